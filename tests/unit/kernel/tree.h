// SPDX-License-Identifier: LGPL-2.1-or-later
//
// Folders like those of /sys and /proc, below a temporary folder of the test.
#pragma once

#include "model/observation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace teamo::test {

class Tree : public testing::Test {
protected:
    Tree() {
        std::string name = std::filesystem::temp_directory_path() / "teamo-tree-XXXXXX";
        root_ = mkdtemp(name.data());
    }
    ~Tree() override { std::filesystem::remove_all(root_); }

    std::string root() const { return root_.string(); }

    void file(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text << '\n';
    }
    void folder(const std::string& path) { std::filesystem::create_directories(root_ / path); }
    void remove(const std::string& path) { std::filesystem::remove_all(root_ / path); }

    std::string line(const std::string& path) const {
        std::ifstream stream(root_ / path);
        std::string text;
        std::getline(stream, text);
        return text;
    }

    /// Adds a network device to the device in that folder of /sys/devices.
    Link network_device(const std::string& name, unsigned index, const std::string& device,
                        unsigned receive = 1, unsigned transmit = 1) {
        const auto net = "sys/devices/" + device + "/net/" + name;
        file(net + "/ifindex", std::to_string(index));
        for (unsigned queue = 0; queue < receive; ++queue)
            file(fmt::format("{}/queues/rx-{}/rps_cpus", net, queue), "00");
        for (unsigned queue = 0; queue < transmit; ++queue)
            if (transmit > 1)
                file(fmt::format("{}/queues/tx-{}/xps_cpus", net, queue), "00");
            else
                folder(net + "/queues/tx-0"); // reading its xps_cpus gives ENOENT
        folder("sys/class/net");
        std::filesystem::create_directory_symlink("../../" + net.substr(4), root_ / "sys/class/net" / name);
        std::filesystem::create_directory_symlink(
            "../../../" + std::filesystem::path(device).filename().string(), root_ / net / "device");
        Link link;
        link.name = name;
        link.index = IfIndex{index};
        return link;
    }

    /// Adds a vector, listed by the device in that folder if any. Without a handler if `handler` is "".
    void vector(unsigned irq, const std::string& handler, const std::string& device = "",
                const std::string& affinity = "0-7", const std::string& effective = "0",
                const std::string& counts = "0,1") {
        const auto path = fmt::format("proc/irq/{}/", irq);
        file(path + "smp_affinity_list", affinity);
        file(path + "effective_affinity_list", effective);
        file(fmt::format("sys/kernel/irq/{}/per_cpu_count", irq), counts);
        if (!handler.empty()) folder(path + handler);
        if (!device.empty()) file(fmt::format("sys/devices/{}/msi_irqs/{}", device, irq), "msix");
    }

    std::filesystem::path root_;
};

} // namespace teamo::test
