// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lab/channel.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace teamo::test {
namespace {

constexpr std::uint32_t longest = 16U << 20;

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

std::optional<std::string> receive_text(int fd) {
    std::array<char, sizeof(std::uint32_t)> head{};
    std::uint32_t size = 0;
    if (!read_all(fd, head.data(), head.size())) return std::nullopt;
    std::memcpy(&size, head.data(), sizeof size);
    if (size > longest) return std::nullopt;
    std::string text(size, '\0');
    if (!read_all(fd, text.data(), size)) return std::nullopt;
    return text;
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

bool send_request(int fd, const LabRequest& request) {
    return write_all(fd, framed(static_cast<char>(request.kind) + request.text));
}

std::optional<LabRequest> receive_request(int fd) {
    const auto text = receive_text(fd);
    if (!text || text->empty()) return std::nullopt;
    return LabRequest{.kind = static_cast<LabRequest::Kind>(text->front()), .text = text->substr(1)};
}

bool send_answer(int fd, const Output& answer) {
    return write_all(fd, framed(std::to_string(answer.status)) + framed(answer.out) + framed(answer.err));
}

std::optional<Output> receive_answer(int fd) {
    const auto status = receive_text(fd);
    auto out = status ? receive_text(fd) : std::nullopt;
    auto err = out ? receive_text(fd) : std::nullopt;
    if (!err) return std::nullopt;
    return Output{.status = std::stoi(*status), .out = std::move(*out), .err = std::move(*err)};
}

} // namespace teamo::test
