// SPDX-License-Identifier: LGPL-2.1-or-later
//
// A daemon's state as teamoctl reads it: nothing in it is taken for granted, it can be shown, and what was
// understood of its balance reads the same when it is written again. Text hardly ever has the names that
// matter, so bytes that are no JSON make a document of these.
#include "control/balance_document.h"
#include "ctl/tables.h"
#include "json/parse.h"
#include "json/write.h"

#include <array>
#include <cstdlib>
#include <span>

using namespace teamo;

namespace {

constexpr auto names = std::to_array<const char*>({"balance",
                                                   "aware",
                                                   "buckets",
                                                   "counted",
                                                   "frozen",
                                                   "interval_ms",
                                                   "moves",
                                                   "on",
                                                   "ports",
                                                   "tx_hash",
                                                   "port",
                                                   "then",
                                                   "bytes_per_second",
                                                   "packets_per_second",
                                                   "bulk_bytes_per_second",
                                                   "planned_bytes_per_second",
                                                   "capacity_bytes_per_second",
                                                   "cpu_load_percent",
                                                   "segments",
                                                   "ago_ms",
                                                   "bucket",
                                                   "end",
                                                   "from",
                                                   "gain_percent",
                                                   "reason",
                                                   "to",
                                                   "waited_ms",
                                                   "datapath",
                                                   "counters",
                                                   "tx_packets",
                                                   "tx_bytes",
                                                   "rx_dropped",
                                                   "link",
                                                   "link_watches",
                                                   "up",
                                                   "speed",
                                                   "transmits",
                                                   "team_device",
                                                   "ifinfo",
                                                   "ifname",
                                                   "ifindex",
                                                   "dev_addr",
                                                   "setup",
                                                   "runner_name",
                                                   "eth1",
                                                   "ipv4",
                                                   "tcp",
                                                   "pending",
                                                   "in a gap",
                                                   "forced",
                                                   "load",
                                                   "by hand",
                                                   "loadbalance",
                                                   "activebackup"});

/// Makes a tree of the bytes, front to back; when they end, of zeros.
class Maker {
public:
    explicit Maker(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    json::Value value(int depth) {
        switch (next() % (depth > 0 ? 8 : 6)) {
        case 0: return nullptr;
        case 1: return next() % 2 == 1;
        case 2: return static_cast<std::int64_t>(next());
        case 3: return number();
        case 4: return static_cast<double>(number()) / 10;
        case 5: return name();
        case 6: return array(depth - 1);
        default: return object(depth - 1);
        }
    }
    json::Value object(int depth) {
        json::Value object = json::Object{};
        for (int count = next() % 32; count > 0 && !rest_.empty(); --count) {
            const auto key = name();
            object.set(key, value(depth));
        }
        return object;
    }

private:
    std::uint8_t next() {
        if (rest_.empty()) return 0;
        const auto byte = rest_.front();
        rest_ = rest_.subspan(1);
        return byte;
    }
    std::int64_t number() {
        std::uint64_t number = 0;
        for (int count = 0; count < 8; ++count)
            number = number << 8 | next();
        return static_cast<std::int64_t>(number);
    }
    const char* name() { return names.at(next() % names.size()); }
    json::Value array(int depth) {
        json::Array array;
        for (int count = next(); count > 0 && !rest_.empty(); --count)
            array.push_back(value(depth));
        return array;
    }

    std::span<const std::uint8_t> rest_;
};

/// Of the configuration only what the document has is compared.
void require_same(const BalanceStatus& balance) {
    json::Value document = json::Object{{"datapath", json::Object{}}};
    document.set("balance", control::balance_document(balance));
    const auto again = ctl::read_state(document);
    if (!again || !again->balance) std::abort();
    document.set("balance", control::balance_document(*again->balance));
    if (ctl::read_state(document)->balance != again->balance) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    auto document = json::parse({reinterpret_cast<const char*>(bytes), size});
    const auto state = ctl::read_state(document ? *document : Maker({bytes, size}).object(6));
    if (!state) return state.error().text.empty() ? std::abort(), 0 : 0;
    static_cast<void>(ctl::balance_text(*state) + ctl::stats_text(*state));
    static_cast<void>(json::write(ctl::balance_json(*state)) + json::write(ctl::stats_json(*state)));
    if (state->balance) require_same(*state->balance);
    return 0;
}
