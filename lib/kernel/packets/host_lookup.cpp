// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernel/packets/host_lookup.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cstring>

namespace teamo {
namespace {

constexpr std::chrono::seconds shortest_wait{1}, longest_wait{60};

IpAddress address_in(const addrinfo& found) {
    IpAddress address{.ipv6 = found.ai_family == AF_INET6};
    if (address.ipv6)
        std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(found.ai_addr)->sin6_addr,
                    16);
    else
        std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(found.ai_addr)->sin_addr, 4);
    return address;
}

} // namespace

/// glibc writes into it until it is answered.
struct HostLookup::Question {
    std::string host;
    addrinfo hints{};
    gaicb request{};
};

void HostLookup::QuestionEnd::operator()(Question* question) const {
    // The answer may come later, into memory that must then still be there. glibc does not cancel what it has
    // just answered either.
    if (::gai_error(&question->request) == EAI_INPROGRESS &&
        ::gai_cancel(&question->request) == EAI_NOTCANCELED)
        return;
    if (question->request.ar_result != nullptr) ::freeaddrinfo(question->request.ar_result);
    delete question;
}

void HostLookup::ask(Entry& entry, const std::string& host, bool ipv6) {
    entry.question.reset(new Question{.host = host});
    auto& question = *entry.question;
    question.hints.ai_family = ipv6 ? AF_INET6 : AF_INET;
    question.hints.ai_socktype = SOCK_DGRAM;
    question.request.ar_name = question.host.c_str();
    question.request.ar_request = &question.hints;
    std::array<gaicb*, 1> requests{&question.request};
    if (const auto refused = ::getaddrinfo_a(GAI_NOWAIT, requests.data(), 1, nullptr); refused != 0) {
        delete entry.question.release(); // glibc does not know it
        entry.failure = ::gai_strerror(refused);
    }
}

void HostLookup::take_answer(Entry& entry, Clock::time_point now) {
    const auto answer = ::gai_error(&entry.question->request);
    if (answer == EAI_INPROGRESS) return;
    const auto* found = answer == 0 ? entry.question->request.ar_result : nullptr;
    if (found != nullptr) {
        entry.address = address_in(*found);
        entry.failure.clear();
        entry.failures = 0;
    } else {
        entry.failure = ::gai_strerror(answer == 0 ? EAI_NONAME : answer);
        ++entry.failures;
    }
    entry.question.reset();
    entry.next =
        now + (found != nullptr ? longest_wait : growing_pause(shortest_wait, entry.failures, longest_wait));
}

std::optional<IpAddress> HostLookup::find(const std::string& host, bool ipv6, Clock::time_point now) {
    if (const auto address = parse_ip(host)) return address->ipv6 == ipv6 ? address : std::nullopt;
    auto& entry = entries_[{host, ipv6}];
    if (entry.question) take_answer(entry, now);
    if (!entry.question && now >= entry.next) ask(entry, host, ipv6);
    return entry.address;
}

std::string HostLookup::failure(const std::string& host, bool ipv6) const {
    if (const auto address = parse_ip(host))
        return address->ipv6 == ipv6 ? "" : fmt::format("is no {} address", ipv6 ? "IPv6" : "IPv4");
    const auto found = entries_.find({host, ipv6});
    return found == entries_.end() || found->second.address ? "" : found->second.failure;
}

} // namespace teamo
