// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/channel.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace teamo::test {
namespace {

constexpr std::uint32_t longest_answer = 16U << 20;
// One write to a port accepts at most 32 KiB (drivers/char/virtio_console.c: port_fops_write).
constexpr std::uint32_t longest_request = 30U << 10;
constexpr std::size_t mark_size = 16;

/// Reads buffered: after a reply nothing else follows, so it may read ahead.
class Reader {
public:
    explicit Reader(int fd) : fd_(fd) {}

    std::optional<std::string> take(std::size_t size) {
        while (held_.size() - taken_ < size)
            if (!more()) return std::nullopt;
        auto text = held_.substr(taken_, size);
        taken_ += size;
        return text;
    }

    /// Discards everything up to and including `mark`.
    bool pass(const std::string& mark) {
        for (;;) {
            if (const auto found = held_.find(mark, taken_); found != std::string::npos) {
                taken_ = found + mark.size();
                return true;
            }
            // The start of the mark may already be here.
            taken_ = std::max(taken_, held_.size() - std::min(held_.size(), mark.size() - 1));
            if (!more()) return false;
        }
    }

    std::optional<std::string> text() {
        const auto head = take(sizeof(std::uint32_t));
        if (!head) return std::nullopt;
        std::uint32_t size = 0;
        std::memcpy(&size, head->data(), sizeof size);
        return size > longest_answer ? std::nullopt : take(size);
    }

private:
    bool more() {
        held_.erase(0, taken_);
        taken_ = 0;
        std::array<char, 65536> bytes{};
        ssize_t got = 0;
        do
            got = ::read(fd_, bytes.data(), bytes.size());
        while (got < 0 && errno == EINTR);
        if (got <= 0) return false;
        held_.append(bytes.data(), static_cast<std::size_t>(got));
        return true;
    }

    int fd_;
    std::string held_;
    std::size_t taken_ = 0;
};

bool read_all(int fd, char* to, std::size_t size) {
    for (std::size_t done = 0; done < size;) {
        const auto got = ::read(fd, to + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += static_cast<std::size_t>(got);
    }
    return true;
}

std::string framed(const std::string& text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    std::string bytes(sizeof size, '\0');
    std::memcpy(bytes.data(), &size, sizeof size);
    return bytes + text;
}

} // namespace

bool write_all(int fd, std::string_view bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
        const auto wrote = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        done += static_cast<std::size_t>(wrote);
    }
    return true;
}

bool send_request(int fd, LabRequest& request) {
    request.mark.assign(mark_size, '\0');
    if (::getrandom(request.mark.data(), mark_size, 0) != static_cast<ssize_t>(mark_size)) return false;
    const auto bytes = framed(request.mark + static_cast<char>(request.kind) + request.text);
    return bytes.size() <= longest_request && write_all(fd, bytes);
}

std::optional<LabRequest> receive_request(int fd) {
    std::uint32_t size = 0;
    if (!read_all(fd, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
    if (size <= mark_size || size > longest_request) return std::nullopt;
    std::string text(size, '\0');
    if (!read_all(fd, text.data(), size)) return std::nullopt;
    return LabRequest{.kind = static_cast<LabRequest::Kind>(text[mark_size]),
                      .text = text.substr(mark_size + 1),
                      .mark = text.substr(0, mark_size)};
}

bool send_answer(int fd, const std::string& mark, const Output& answer) {
    if (answer.out.size() + answer.err.size() > longest_answer)
        return send_answer(fd, mark,
                           {.status = 125,
                            .out = {},
                            .err = "more than 16 MiB of output: let the command write it to a file\n"});
    return write_all(fd,
                     mark + framed(std::to_string(answer.status)) + framed(answer.out) + framed(answer.err));
}

std::optional<Output> receive_answer(int fd, const std::string& mark) {
    Reader reader(fd);
    if (!reader.pass(mark)) return std::nullopt;
    const auto status = reader.text();
    auto out = status ? reader.text() : std::nullopt;
    auto err = out ? reader.text() : std::nullopt;
    if (!err) return std::nullopt;
    int number = 0;
    const auto* end = status->data() + status->size();
    if (const auto read = std::from_chars(status->data(), end, number);
        read.ec != std::errc() || read.ptr != end)
        return std::nullopt;
    return Output{.status = number, .out = std::move(*out), .err = std::move(*err)};
}

} // namespace teamo::test
