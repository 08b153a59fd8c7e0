// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ctl/bench/output.h"

#include "ctl/bench/names.h"
#include "ctl/units.h"

namespace teamo::ctl::bench {
namespace {

std::string what_text(const Case& what) {
    return fmt::format("{} {}{}, {}, {}{}", what.ports, name_of(what.over),
                       what.datapath.empty() ? "" : " " + what.datapath, name_of(what.load),
                       name_of(what.way), what.tso ? "" : ", no TSO");
}

template <class Member>
double median_of(const Measured& measured, Member member) {
    std::vector<double> values;
    for (const auto& round : measured.rounds)
        values.push_back(member(round));
    return median(values);
}

std::string line_text(const Measured& measured) {
    if (measured.rounds.empty())
        return fmt::format("{:<40} {}\n", what_text(measured.what), measured.skipped);
    const auto rate = [&](auto bytes) {
        return median_of(measured, [&](const Sample& one) { return bytes(one) * 8e-6 / one.seconds; });
    };
    const auto busy = [&](auto end) {
        return median_of(measured, [&](const Sample& one) {
            const auto& time = end(one);
            return time ? 100 * time->busy() / (time->busy() + time->idle) : 0.0;
        });
    };
    return fmt::format("{:<40} {:>7.0f} {:>7.0f} {:>5.0f} {:>5.0f}  {}\n", what_text(measured.what),
                       rate([](const Sample& one) { return one.sent; }),
                       rate([](const Sample& one) { return one.received; }),
                       busy([](const Sample& one) { return one.host; }),
                       busy([](const Sample& one) { return one.far; }), name_of(measured.limit));
}

} // namespace

std::string text_of(const Results& results) {
    auto text = fmt::format("{:<40} {:>7} {:>7} {:>5} {:>5}  {}\n", "", "sent", "rcvd", "CPU", "far", "");
    text +=
        fmt::format("{:<40} {:>7} {:>7} {:>5} {:>5}  {}\n", "Case", "Mbit/s", "Mbit/s", "%", "%", "Limit");
    for (const auto& measured : results.cases)
        text += line_text(measured);
    return text;
}

Result<std::string> html_of(const Results&) { return fail(ENOTSUP, "there is no HTML report yet"); }

} // namespace teamo::ctl::bench
