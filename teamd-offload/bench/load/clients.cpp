// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/load/clients.h"

#include "base/clock.h"
#include "bench/load/transfer.h"

#include <array>

namespace teamo::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_start = 10s;

/// One client at work.
struct Client {
    const ClientSetup& setup;
    const IpAddress& server;
    const std::stop_token& stop;
    Tally& tally;

    /// None: the thread must stop, or the server does not answer.
    std::optional<Connection> connect() const {
        auto connection = Connection::to_within(longest_start, server, setup.port, setup.order.buffer,
                                                Refused::is_tried_again, stop);
        if (!connection || stop.stop_requested()) return std::nullopt;
        connection->set_congestion_control(setup.congestion_control);
        return std::move(*connection);
    }

    void run() const {
        if (setup.order.what == Serve::http) return fetch_pages();
        const auto connection = connect();
        std::array<char, 1> accepted{}; // so that nothing else arrives with the order
        if (!connection || !connection->send(text_of(setup.order), stop) ||
            !connection->receive_all(accepted, stop)) {
            tally.failed = true;
            return;
        }
        tally.ready = true;
        work(*connection);
        if (!stop.stop_requested()) tally.failed = true;
    }

    void work(const Connection& connection) const {
        switch (setup.order.what) {
        case Serve::sink: return send_messages(connection, setup.message, stop, tally);
        case Serve::source: return receive_messages(connection, stop, tally);
        case Serve::echo: return ask(connection);
        case Serve::file: return fetch_files(connection);
        case Serve::store: return send_files(connection);
        case Serve::http:
        case Serve::totals: return;
        }
    }

    void ask(const Connection& connection) const {
        std::array<char, 1> byte{'x'};
        for (;;) {
            const auto start = Clock::now();
            if (!connection.send({byte.data(), 1}, stop) || !connection.receive_all(byte, stop)) return;
            finish(start, 0); // no payload to speak of
        }
    }

    void fetch_files(const Connection& connection) const {
        for (;;) {
            const auto start = Clock::now();
            if (!connection.send("x", stop) || !receive_bytes(connection, setup.order.bytes, stop, tally))
                return;
            finish(start, 0);
        }
    }

    void send_files(const Connection& connection) const {
        const auto content = memory_file(setup.order.bytes);
        std::array<char, 1> byte{};
        for (;;) {
            const auto start = Clock::now();
            if (!content || !connection.send_file(content.get(), setup.order.bytes, stop, tally.sent) ||
                !connection.receive_all(byte, stop))
                return;
            finish(start, 0);
        }
    }

    void fetch_pages() const {
        std::array<char, std::size_t{4} * page_size> page{};
        while (!stop.stop_requested()) {
            const auto start = Clock::now();
            const auto connection = connect();
            if (!connection || !connection->send(text_of(setup.order), stop)) break;
            std::uint64_t size = 0;
            while (const auto got = connection->receive(page, stop))
                size += got;
            if (size > page_size) finish(start, page_size);
            tally.ready = true;
        }
        if (!stop.stop_requested()) tally.failed = true;
    }

    void finish(Clock::time_point start, std::uint64_t received) const {
        tally.latency.add(Clock::now() - start);
        tally.received += received;
        ++tally.operations;
    }
};

} // namespace

Result<> start_clients(LoadThreads& threads, const ClientSetup& setup) {
    for (const auto& server : setup.servers)
        TEAMO_TRY(threads.start(setup.cpus, [setup, server](const std::stop_token& stop, Tally& tally) {
            if (setup.enter && !setup.enter()) {
                tally.failed = true;
                return;
            }
            Client{.setup = setup, .server = server, .stop = stop, .tally = tally}.run();
        }));
    return {};
}

Result<> await_clients(const LoadThreads& threads) {
    const auto start = Clock::now();
    while (threads.ready() < threads.size()) {
        if (threads.any_failed() || Clock::now() - start > longest_start + 1s)
            return fail(ETIMEDOUT, fmt::format("{} of {} connections work", threads.ready(), threads.size()));
        std::this_thread::sleep_for(5ms);
    }
    return {};
}

} // namespace teamo::bench
