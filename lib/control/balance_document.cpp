// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/balance_document.h"

#include "control/document_fields.h"

namespace teamo::control {
namespace {

constexpr auto port_balance_fields = [](auto field, auto& port) {
    field.rounded("bulk_bytes_per_second", port.bulk);
    field.rounded("bytes_per_second", port.bytes);
    field.rounded("capacity_bytes_per_second", port.capacity);
    field.percent("cpu_load_percent", port.cpu_load);
    field("cpus", port.cpus);
    field("interrupt_cpus", port.interrupt_cpus);
    field.rounded("packets_per_second", port.packets);
    field.rounded("planned_bytes_per_second", port.planned);
    field.rounded("rate_bytes_per_second", port.rate);
    field("segments", port.segments);
};

constexpr auto move_fields = [](auto field, auto& move) {
    using enum MoveEnd;
    using enum MoveReason;
    field("ago_ms", move.ago);
    field("bucket", move.bucket);
    field.name("end", move.end, {pending, in_gap, forced, given_up});
    field("from", move.from);
    field.percent("gain_percent", move.gain);
    field.name("reason", move.reason, {load, offload, by_hand, membership});
    field("to", move.to);
    field("waited_ms", move.waited);
};

/// Arrays by bucket, 0 to 255.
constexpr auto bucket_fields = [](auto field, auto& balance) {
    field.rounded("bulk_bytes_per_second", balance.loads, &BucketLoad::bulk);
    field.rounded("bytes_per_second", balance.loads, &BucketLoad::bytes);
    field.rounded("packets_per_second", balance.loads, &BucketLoad::packets);
    field("port", balance.leaves_by);
    field("next_ports", balance.then);
};

json::Value write_hash(HashFields fields) { return to_json(hash_field_names(fields)); }

void read_hash(const json::Value& names, HashFields& fields) {
    if (names.array() == nullptr) return;
    for (const auto& name : *names.array())
        fields |= hash_fields_named(json::string_of(name));
}

constexpr auto balance_fields = [](auto field, auto& balance) {
    field("aware", balance.config.aware);
    field.object("buckets", balance, bucket_fields);
    field("counted", balance.counted);
    field("frozen", balance.frozen);
    field("interval_ms", balance.config.interval);
    field.list("moves", balance.moves, move_fields);
    field("on", balance.config.on);
    field.by_name("ports", balance.ports, port_balance_fields);
    field.as("tx_hash", balance.tx_hash, write_hash, read_hash);
};

} // namespace

json::Value balance_document(const BalanceStatus& balance) { return write_fields(balance, balance_fields); }

json::Value port_balance_document(const PortBalance& port) { return write_fields(port, port_balance_fields); }

BalanceStatus read_balance(const json::Value& document) {
    return read_fields<BalanceStatus>(document, balance_fields);
}

} // namespace teamo::control
