// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/bpf/load_program.h"

#include "base/take_until.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace teamo {
namespace {

std::function<void(std::string_view)>& listener() {
    static std::function<void(std::string_view)> heard_by;
    return heard_by;
}

thread_local std::string* collected = nullptr; // the messages of the load in this thread

constexpr std::size_t longest_message = 65536; // of the verifier's log the end counts

/// Calls use(line) for each line that is not empty.
void each_line(std::string_view text, const auto& use) {
    while (!text.empty())
        if (const auto line = take_until(text, "\n"); !line.empty()) use(line);
}

int hear(libbpf_print_level level, const char* format, va_list arguments) {
    if (level != LIBBPF_WARN || (collected == nullptr && !listener())) return 0;
    char* made = nullptr;
    const int size = ::vasprintf(&made, format, arguments);
    if (size < 0) return 0;
    const std::unique_ptr<char, decltype(&std::free)> text(made, &std::free);
    std::string_view message(made, static_cast<std::size_t>(size));
    message.remove_prefix(message.size() - std::min(message.size(), longest_message));
    if (collected != nullptr) collected->append(message);
    if (listener()) each_line(message, listener());
    return 0;
}

std::string_view without_prefix(std::string_view line) {
    constexpr std::string_view prefix = "libbpf: ";
    return line.starts_with(prefix) ? line.substr(prefix.size()) : line;
}

} // namespace

std::string reason_in(std::string_view messages) {
    std::string_view first, before, verdict;
    each_line(messages, [&](std::string_view line) {
        if (first.empty()) first = without_prefix(line);
        // The verifier's last line counts instructions; its last words come before.
        if (line.starts_with("processed ") && verdict.empty()) verdict = before;
        before = line;
    });
    return std::string(verdict.empty() ? first : verdict);
}

void hear_libbpf(std::function<void(std::string_view line)> heard_by) { listener() = std::move(heard_by); }

Result<> load_programs(std::string_view what, const std::function<int()>& load) {
    libbpf_set_print(hear);
    int error = 0;
    std::string said;
    std::thread([&] {
        // A new thread has it already if the daemon is at SCHED_RR with SCHED_RESET_ON_FORK, as by the unit,
        // which refuses this call.
        const sched_param none{};
        static_cast<void>(::sched_setscheduler(0, SCHED_OTHER, &none)); // of this thread
        collected = &said;
        error = load();
    }).join();
    if (error == 0) return {};
    const auto reason = reason_in(said);
    return fail(-error, fmt::format("the kernel refuses to load {}: {}{}{}", what, errno_text(-error),
                                    reason.empty() ? "" : "; ", reason));
}

Result<UniqueFd> link_iterator(int program, const std::string& over) {
    UniqueFd link(bpf_link_create(program, 0, BPF_TRACE_ITER, nullptr));
    if (!link) return fail_errno(errno, "the kernel has no BPF iterator over " + over);
    return link;
}

Result<std::vector<std::byte>> read_iterator(const UniqueFd& link, const std::string& over,
                                             std::size_t most) {
    constexpr std::size_t part = 1 << 18;
    const UniqueFd iterator(bpf_iter_create(link.get()));
    if (!iterator) return fail_errno(errno, "cannot create a BPF iterator over " + over);
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    while (size < most) {
        bytes.resize(size + part);
        const auto got = ::read(iterator.get(), bytes.data() + size, part);
        // EAGAIN: a million objects in a row without a record (kernel/bpf/bpf_iter.c: MAX_ITER_OBJECTS).
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (got < 0) return fail_errno(errno, "cannot read the BPF iterator over " + over);
        if (got == 0) break;
        size += static_cast<std::size_t>(got);
    }
    bytes.resize(std::min(size, most));
    return bytes;
}

} // namespace teamo
