// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The daemon's log: one line per transition, none per packet or pass. Written to the journal with fields if
// stderr is connected to it, to a terminal as plain text, or to the target of teamd's -l.
#pragma once

#include "base/result.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <syslog.h>
#include <utility>

namespace teamo {

enum class Level : int {
    error = LOG_ERR,       ///< traffic or configuration at risk
    warning = LOG_WARNING, ///< degraded, or a setting has no effect
    notice = LOG_NOTICE,   ///< a port changed
    info = LOG_INFO,       ///< started, stopped
    debug = LOG_DEBUG,     ///< each decision with its inputs (-g)
};

enum class LogOutput { automatic, standard_output, standard_error, syslog };

/// Transitions that programs may wait for: a MESSAGE_ID each (packaging/catalog).
namespace message_id {
inline constexpr std::string_view none = "";
inline constexpr std::string_view port_lost = "7d9dc586785f4ab0ab344d7b96b4c583";
inline constexpr std::string_view port_back = "ed8d357b190a413b88cfd03a7afd3504";
inline constexpr std::string_view active_changed = "6bbaaf3d57d643e49d1776575a93bb74";
inline constexpr std::string_view resync = "019914d38f3f454a981f7e9333388be1";
inline constexpr std::string_view adopted = "c18a0a4b11ec410ea12e242f2bd2e83b";
inline constexpr std::string_view offload_repaired = "ffc4c950434f4078b36321be699e58fe";
inline constexpr std::string_view offload_given_up = "c6935afb85984fdabd560608a86cde61";
inline constexpr std::string_view offload_lacking = "42bae7a2a395452eac5605b42b9f7c1f";
inline constexpr std::string_view interrupts_degraded = "a9fe4e64606c466db791c756b358e1ee";
inline constexpr std::string_view interrupts_repaired = "13ff64381bb24d45b913f96db391c56f";
inline constexpr std::string_view interrupts_contested = "77a099aa713245d8ae3c109ac8dca161";
inline constexpr std::string_view program_before = "42a9148a1b79425b9117cca200699911";
inline constexpr std::string_view program_lost = "41b6296cdb774921ba17e956dbb314a4";
inline constexpr std::string_view config_reloaded = "437eea11fbf64d0ab3b684eda460b363";
inline constexpr std::string_view config_refused = "d313b7b3e54f48988b33c41b8ab31659";
} // namespace message_id

class Log {
public:
    Log(std::string name, LogOutput output);

    /// Switches from the terminal to syslog, unless -l chose another target.
    void go_to_background();
    void set_debug(bool debug) { debug_ = debug; }
    /// Whether lines of Level::debug are written: ask before one is made that costs something.
    bool traces() const { return debug_; }
    void set_team(std::string team) { team_ = std::move(team); }

    using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    void operator()(Level level, std::string_view text, std::string_view id = message_id::none,
                    Fields fields = {}) const;
    /// A line of one port, "port NAMETEXT", with the field PORT.
    void port(Level level, std::string_view name, std::string_view text,
              std::string_view id = message_id::none) const;

private:
    void to_syslog();
    void to_journal(Level level, std::string_view text, std::string_view id, Fields fields) const;

    std::string name_, team_;
    enum class Target { journal, prefixed, plain, standard_output, syslog } target_ = Target::plain;
    bool debug_ = false;
};

/// Logs a text only if it differs from the last one. For a failure that every pass or poll meets again.
class LogOnce {
public:
    /// `prefix`: comes first in the log line; not compared, and not in text(). An empty text is as clear().
    void operator()(const Log& log, Level level, std::string_view prefix, std::string text,
                    std::string_view id = message_id::none, Log::Fields fields = {});
    /// The same for what may have failed; a success is as clear().
    void operator()(const Log& log, Level level, std::string_view prefix, const Result<>& done) {
        (*this)(log, level, prefix, done ? std::string() : done.error().text);
    }
    /// The failure is over: the same text is logged again next time.
    void clear() { text_.clear(); }
    /// The last text; empty: none since clear().
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

} // namespace teamo
