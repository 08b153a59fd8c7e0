// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/offload_document.h"

#include "control/document_fields.h"

namespace teamo::control {
namespace {

constexpr auto limit_fields = [](auto field, auto& limits) {
    field("bytes", limits.size);
    field("ipv4_bytes", limits.ipv4_size);
    field("segments", limits.segs);
};

constexpr auto device_offload_fields = [](auto field, auto& device) {
    field("active", device.active);
    field("changeable", device.changeable);
    field("gave_up", device.gave_up);
    field.object("gso_max", device.gso_max, limit_fields);
    field("lacking", device.lacking);
    field("last", device.last);
    field("off", device.shall_be_off);
    field("on", device.shall_be_on);
    field("repaired", device.repaired);
    field("required", device.required);
};

constexpr auto offload_fields = [](auto field, auto& status) {
    using enum Lacking;
    field.name("lacking", status.lacking, {accept, demote, refuse});
    field.by_name("ports", status.ports, device_offload_fields);
    field("repair", status.repair);
    field.object("team", status.team, device_offload_fields);
};

} // namespace

json::Value offload_document(const OffloadStatus& status) { return write_fields(status, offload_fields); }

OffloadStatus read_offloads(const json::Value& document) {
    return read_fields<OffloadStatus>(document, offload_fields);
}

} // namespace teamo::control
