// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/socket_store.h"

#include <fmt/format.h>
#include <systemd/sd-daemon.h>

#include <cstdlib>

namespace teamo {
namespace {

/// By all that have this name.
void remove_kept(const std::string& name) { sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name.c_str()); }

} // namespace

SocketStore::SocketStore() {
    char** names = nullptr;
    const int count = sd_listen_fds_with_names(/*unset_environment=*/1, &names);
    for (int number = 0; number < count; ++number) {
        earlier_.insert_or_assign(names[number], UniqueFd(SD_LISTEN_FDS_START + number));
        std::free(names[number]); // NOLINT(cppcoreguidelines-no-malloc): sd-daemon's
    }
    std::free(static_cast<void*>(names)); // NOLINT(cppcoreguidelines-no-malloc)
}

void SocketStore::Forget::operator()(PortSocket* socket) const {
    if (store != nullptr && !store->keeps_) remove_kept(name);
    delete socket; // NOLINT(cppcoreguidelines-owning-memory): of a unique_ptr
}

Result<SocketStore::Socket> SocketStore::open(IfIndex device, std::string_view use,
                                              const PortSocket::What& what) {
    const auto name = fmt::format("{}-{}", use, device.value);
    const auto kept = earlier_.extract(name);
    auto taken = kept.empty() ? fail(ENOENT, name) : PortSocket::take(std::move(kept.mapped()), device, what);
    const bool is_new = !taken;
    if (is_new) {
        if (!kept.empty()) remove_kept(name); // the index is another device's now
        taken = TEAMO_TRY(PortSocket::open(device, what));
    }
    Socket socket(new PortSocket(std::move(*taken)), {.store = this, .name = name});
    // FDPOLL=0: a device that goes down for a moment would end it otherwise.
    const int fd = socket->fd();
    if (is_new)
        sd_pid_notify_with_fds(0, 0, fmt::format("FDSTORE=1\nFDNAME={}\nFDPOLL=0", name).c_str(), &fd, 1);
    return socket;
}

void SocketStore::drop_rest() {
    for (const auto& [name, fd] : earlier_)
        remove_kept(name);
    earlier_.clear();
}

} // namespace teamo
