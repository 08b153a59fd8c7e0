// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/context/log.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace teamo {
namespace {

/// Whether standard error is the stream that journald gave us (systemd.exec(5): $JOURNAL_STREAM).
bool stderr_is_journal() {
    const char* stream = std::getenv("JOURNAL_STREAM");
    struct stat status{};
    if (stream == nullptr || ::fstat(STDERR_FILENO, &status) < 0) return false;
    return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

} // namespace

Log::Log(std::string name, LogOutput output) : name_(std::move(name)) {
    if (output == LogOutput::standard_output) target_ = Target::standard_output;
    if (output == LogOutput::syslog) to_syslog();
    if (output != LogOutput::automatic) return;
    if (stderr_is_journal())
        target_ = Target::journal;
    else if (std::getenv("INVOCATION_ID") != nullptr && ::isatty(STDERR_FILENO) == 0)
        target_ = Target::prefixed;
}

void Log::go_to_background() {
    if (target_ == Target::plain || target_ == Target::prefixed) to_syslog();
}

void Log::to_syslog() {
    target_ = Target::syslog;
    ::openlog(name_.c_str(), LOG_PID, LOG_DAEMON);
}

void Log::operator()(Level level, std::string_view text, std::string_view id, Fields fields) const {
    if (level == Level::debug && !debug_) return;
    const auto line = team_.empty() ? std::string(text) : fmt::format("{}: {}", team_, text);
    // fmt::print() throws if nobody reads any more, for example when the terminal is gone.
    const auto put = [](std::FILE* file, const std::string& whole) {
        static_cast<void>(std::fwrite(whole.data(), 1, whole.size(), file));
        static_cast<void>(std::fflush(file));
    };
    switch (target_) {
    case Target::journal: return to_journal(level, line, id, fields);
    case Target::syslog: return ::syslog(static_cast<int>(level), "%s", line.c_str());
    case Target::prefixed:
        return put(stderr, fmt::format("<{}>{}: {}\n", static_cast<int>(level), name_, line));
    case Target::plain: return put(stderr, fmt::format("{}: {}\n", name_, line));
    case Target::standard_output: return put(stdout, fmt::format("{}: {}\n", name_, line));
    }
}

void Log::port(Level level, std::string_view name, std::string_view text, std::string_view id) const {
    (*this)(level, fmt::format("port {}{}", name, text), id, {{"PORT", name}});
}

void Log::to_journal(Level level, std::string_view text, std::string_view id, Fields fields) const {
    std::vector<std::string> kept{fmt::format("MESSAGE={}", text),
                                  fmt::format("PRIORITY={}", static_cast<int>(level)),
                                  fmt::format("SYSLOG_IDENTIFIER={}", name_)};
    if (!team_.empty()) kept.push_back(fmt::format("TEAM={}", team_));
    if (!id.empty()) kept.push_back(fmt::format("MESSAGE_ID={}", id));
    for (const auto& [name, value] : fields)
        kept.push_back(fmt::format("{}={}", name, value));
    std::vector<iovec> parts;
    parts.reserve(kept.size());
    for (auto& field : kept)
        parts.push_back({.iov_base = field.data(), .iov_len = field.size()});
    ::sd_journal_sendv(parts.data(), static_cast<int>(parts.size()));
}

void LogOnce::operator()(const Log& log, Level level, std::string_view prefix, std::string text,
                         std::string_view id, Log::Fields fields) {
    if (text == text_) return;
    text_ = std::move(text);
    if (!text_.empty()) log(level, fmt::format("{}{}", prefix, text_), id, fields);
}

} // namespace teamo
