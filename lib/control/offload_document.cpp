// SPDX-License-Identifier: LGPL-2.1-or-later
#include "control/offload_document.h"

namespace teamo::control {
namespace {

using json::Object;
using json::Value;

Value list_of(const FeatureNames& names) {
    json::Array list;
    for (const auto& name : names)
        list.emplace_back(name);
    return list;
}

Value device_of(const DeviceOffloads& device) {
    return Object{{"active", list_of(device.active)},
                  {"changeable", list_of(device.changeable)},
                  {"gave_up", device.gave_up},
                  {"gso_max", Object{{"bytes", device.gso_max.size},
                                     {"ipv4_bytes", device.gso_max.ipv4_size},
                                     {"segments", device.gso_max.segs}}},
                  {"lacking", list_of(device.lacking)},
                  {"last", device.last},
                  {"off", list_of(device.shall_be_off)},
                  {"on", list_of(device.shall_be_on)},
                  {"repaired", device.repaired},
                  {"required", list_of(device.required)}};
}

} // namespace

Value offload_document(const OffloadStatus& status) {
    Object ports;
    for (const auto& port : status.ports)
        ports.push_back({port.name, device_of(port)});
    return Object{{"lacking", std::string(name_of(status.lacking))},
                  {"ports", std::move(ports)},
                  {"repair", status.repair},
                  {"team", device_of(status.team)}};
}

} // namespace teamo::control
