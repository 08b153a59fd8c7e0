// SPDX-License-Identifier: LGPL-2.1-or-later
//
// The state of a daemon as teamoctl reads it: any document can be shown, and its balance reads back the same.
// Random text rarely has the right names, so bytes that are not JSON are used as changes to a valid document.
// fuzz: -max_len=4096
#include "control/state_document.h"
#include "control/subsystem_documents.h"
#include "ctl/report/state_tables.h"
#include "json/parse.h"
#include "json/write.h"

#include <algorithm>
#include <cstdlib>
#include <span>

using namespace teamo;

namespace {

json::Value whole_document() {
    TeamStatus status;
    status.name = "team0";
    status.runner = LoadBalanceRunner{};
    status.datapath = "bpf";
    PortStatus port;
    port.name = "eth1";
    port.link.speed = 1000;
    status.ports = {port};
    BalanceStatus balance;
    balance.config.on = balance.counted = true;
    balance.tx_hash = HashField::ipv4 | HashField::tcp;
    balance.leaves_by[0] = "eth1";
    balance.next_ports[0] = {"eth2"};
    balance.ports = {{.name = "eth1", .bytes = 1e6, .planned = 1e6, .capacity = 125e6}};
    balance.moves = {{.bucket = 7, .from = "eth1", .to = "eth2", .gain = 0.1}};
    status.balance = balance;
    return control::state_document(status);
}

/// Long arrays have alike elements: a few of them say as much, at a tenth of the time.
void shorten(json::Value& value) {
    constexpr std::size_t enough = 4;
    if (auto* array = value.array()) {
        array->resize(std::min(array->size(), enough));
        for (auto& element : *array)
            shorten(element);
    }
    if (auto* object = value.object())
        for (auto& member : *object)
            shorten(member.value);
}

/// Takes values from the bytes in order, and zeros after the end.
class Changes {
public:
    explicit Changes(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

    bool any() const { return !rest_.empty(); }
    void change(json::Value& value) {
        const auto step = next();
        if (auto* object = value.object(); object != nullptr && !object->empty() && step % 8 != 0)
            return change((*object)[next() % object->size()].value);
        if (auto* array = value.array(); array != nullptr && !array->empty() && step % 8 != 0)
            return change((*array)[next() % array->size()]);
        value = another(value);
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
    std::string text() {
        std::string text;
        for (int count = next() % 32; count > 0 && !rest_.empty(); --count)
            text += static_cast<char>(next() & 0x7F);
        return text;
    }
    /// Few of all together, because copies of copies of the document do not fit into memory.
    json::Array copies_of(const json::Value& value) {
        const unsigned times = next() % (most_copies_ + 1);
        if (times > 1) most_copies_ /= times;
        return json::Array(times, value);
    }
    json::Value another(const json::Value& value) {
        switch (next() % 9) {
        case 0: return nullptr;
        case 1: return next() % 2 == 1;
        case 2: return static_cast<std::int64_t>(next()) - 128;
        case 3: return number();
        case 4: return static_cast<double>(number()) / 10;
        case 5: return text();
        case 6: return copies_of(value);
        case 7: return json::Object{{.key = text(), .value = value}};
        default: return json::Object{};
        }
    }

    std::span<const std::uint8_t> rest_;
    unsigned most_copies_ = 16;
};

json::Value document_of(std::span<const std::uint8_t> bytes) {
    if (auto read = json::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) return *read;
    static const auto whole = [] {
        auto document = whole_document();
        shorten(document);
        return document;
    }();
    auto document = whole;
    Changes changes(bytes);
    for (int count = 0; count < 16 && changes.any(); ++count)
        changes.change(document);
    return document;
}

/// Writes and reads the balance twice: the first time rounds the numbers, the second must not change them.
void require_same(const BalanceStatus& balance) {
    json::Value document = json::Object{{"datapath", json::Object{}}};
    document.set("balance", control::balance_document(balance));
    const auto again = control::read_state(document);
    if (!again || !again->balance) std::abort();
    document.set("balance", control::balance_document(*again->balance));
    if (control::read_state(document)->balance != again->balance) std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    const auto state = control::read_state(document_of({bytes, size}));
    if (!state) return state.error().text.empty() ? std::abort(), 0 : 0;
    // One of them for each input: all of them take three times as long.
    switch (size % 3) {
    case 0: static_cast<void>(ctl::balance_text(*state) + ctl::stats_text(*state)); break;
    case 1:
        static_cast<void>(json::write(ctl::balance_json(*state)) + json::write(ctl::stats_json(*state)));
        break;
    default:
        if (state->balance) require_same(*state->balance);
    }
    return 0;
}
