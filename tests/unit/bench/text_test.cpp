// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/text.h"

#include "bench/json.h"
#include "bench/summary.h"
#include "unit/bench/sample.h"
#include "unit/lines.h"
#include "json/parse.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace teamo::bench {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::Le;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::size_t columns = 80;

TEST(BenchText, begins_with_speed_cpu_limit_and_the_papers) {
    const auto text = results_text(sample_results());
    EXPECT_THAT(text,
                StartsWith("veth ports of 1000 Mbit/s, shaped by tbf; 2 CPUs; kernel 6.18.0; profile paper\n"
                           "team (bpf), streams, messages of 32768 bytes, sockets of 131072 bytes; CPU time\n"
                           "  of the whole machine, with both ends\n"
                           "\n"
                           "with TSO on                               transmit     receive   both ways\n"
                           "ports                                            8           8           8\n"
                           "throughput, Mbit/s                            7528        7528       15056\n"
                           "- spread of the rounds                       0.0 %       0.0 %       0.0 %\n"
                           "limited by                                  shaper      shaper      shaper\n"
                           "CPU, %                                          28          31          67\n"
                           "- load generator, % of a CPU                    22          25          54\n"
                           "- daemon of the team, % of a CPU              0.12        0.12        0.12\n"
                           "service demand, us/KiB                       0.610       0.671       0.732\n"
                           "of the single ports' sum                   100.0 %     100.0 %     100.0 %\n"
                           "- APA, TSO off                              99.0 %      99.0 %      90.0 %\n"
                           "service demand, TSO on against off         -59.3 %     -59.3 %     -59.3 %\n"
                           "- HP TSO, 4 ports at most                  -46.0 %           -     -26.0 %\n"));
    EXPECT_THAT(text,
                HasSubstr("both ways      8   15056     8935   100 %   90 %  67/98  0.732/1.797  shaper\n"));
    EXPECT_THAT(text,
                HasSubstr("not measured: bonding, 8 ports, transmit: this kernel has no bonding driver\n"));
    EXPECT_THAT(text, HasSubstr("energy: no meter (RAPL)\n"));
}

TEST(BenchText, says_that_the_meter_needs_root) {
    auto results = sample_results();
    results.machine.meter_needs_root = true;
    EXPECT_THAT(results_text(results), HasSubstr("energy: the meter (RAPL) needs root\n"));
}

TEST(BenchText, says_whose_energy_the_cost_has) {
    auto results = sample_results();
    const auto text = [&] {
        auto wrapped = results_text(results, Prices{.currency = "EUR", .kwh = 0.3});
        return wrapped.substr(wrapped.find("cost of"));
    };
    EXPECT_THAT(text(), Not(HasSubstr("with idle power")));
    for (auto& measured : results.cases)
        for (auto& round : measured.rounds)
            round.joules = 100;
    EXPECT_THAT(text(), HasSubstr("The energy is that of the whole machine, with idle power"));
}

TEST(BenchText, has_a_line_for_each_cpu) {
    auto results = sample_results();
    EXPECT_THAT(results_text(results),
                HasSubstr("\nCPU by CPU, % of its time: team (bpf), 8 ports, both ways:\n"
                          "CPU  busy  user  system  softirq  irq\n"
                          "0      67     4      37       26    1\n"
                          "1      67     4      37       26    1\n"));
    for (auto& measured : results.cases)
        for (auto& round : measured.rounds)
            for (auto& [number, time] : round.cpus)
                time.irq = 0;
    EXPECT_THAT(results_text(results), HasSubstr("\nCPU  busy  user  system  softirq\n"));
}

TEST(BenchText, names_the_rules_of_nftables) {
    auto results = sample_results();
    EXPECT_THAT(results_text(results), Not(HasSubstr("nftables")));
    results.machine.nftables = "inet filter: 8 rules";
    EXPECT_THAT(results_text(results), HasSubstr("\nnftables: inet filter: 8 rules\n"));
}

TEST(BenchText, has_all_figures_with_their_papers) {
    const auto text = results_text(sample_results());
    EXPECT_THAT(text, HasSubstr("all figures:\n"));
    EXPECT_THAT(text.substr(text.find("all figures:\n")), testing::ContainsRegex("\nports +8 +8 +8"));
    for (const auto& metric : metrics()) {
        if (metric.figure == joules_per_gb || metric.figure == far_service_demand ||
            metric.figure == operations || metric.figure == file_time ||
            std::string_view(metric.key).starts_with("latency"))
            continue; // not measured in these cases
        EXPECT_THAT(text, HasSubstr(fmt::format("\n{} ", metric.key)));
    }
    EXPECT_THAT(text, HasSubstr("us/KiB; APA, HP TSO\n"));
}

TEST(BenchText, names_a_case_that_an_error_ended) {
    auto results = sample_results();
    results.cases.front().failed = "a connection of the load generators was lost";
    EXPECT_THAT(results_text(results), HasSubstr("failed after 3 rounds: team (bpf), 1 port, transmit: a"));
}

TEST(BenchText, names_another_machine_of_the_second_run) {
    auto other = sample_results();
    EXPECT_THAT(disagreements_text(other, other), StartsWith("the two runs agree"));
    other.machine.kernel = "6.12.0";
    EXPECT_THAT(disagreements_text(sample_results(), other),
                HasSubstr("other kernel: 6.18.0, then 6.12.0\n"));
}

TEST(BenchText, does_not_compare_cpu_time_of_one_end_with_that_of_both) {
    auto other = sample_results();
    for (auto& measured : other.cases)
        for (auto& round : measured.rounds)
            round.host = round.far = CpuTime{.system = 4, .idle = 1};
    const auto text = disagreements_text(sample_results(), other);
    EXPECT_THAT(text, HasSubstr("other CPU time: the whole machine"));
    EXPECT_THAT(text, Not(HasSubstr("service demand")));
    other.cases.clear();
    EXPECT_THAT(disagreements_text(sample_results(), other), HasSubstr("have no ratio in common"));
}

TEST(BenchText, names_the_basis_of_bound_workers) {
    auto own = sample_results();
    for (auto& measured : own.cases)
        for (auto& round : measured.rounds)
            round.host = round.far = CpuTime{.system = 4, .idle = 6};
    auto shared = own;
    for (auto& measured : shared.cases)
        for (auto& round : measured.rounds)
            if (measured.what.binding != Binding::none) round.host = round.far = std::nullopt;
    EXPECT_EQ(basis_text(own), "the measured host's own CPUs");
    EXPECT_EQ(basis_text(shared),
              "the measured host's own CPUs; with bound workers the whole machine, with both ends");
    for (const auto& one : agreement_of(own, shared).differences)
        EXPECT_NE(one.first.about, Subject::bound_demand);
    EXPECT_THAT(results_text(shared), HasSubstr("service demand, workers bound against unbound:\n"));
}

TEST(BenchText, shows_a_ratio_only_beside_its_number_of_ports) {
    auto results = sample_results();
    for (auto& measured : results.cases)
        if (measured.what.over == Carrier::ports && measured.what.ports > 1) measured.rounds.clear();
    EXPECT_THAT(results_text(results),
                testing::ContainsRegex("service demand against the ports alone +[-+0-9.]+ % by 1 "));
}

TEST(BenchText, shows_what_binding_brought) {
    Results results = sample_results();
    std::erase_if(results.cases, [](const Measured& one) { return one.what.binding == Binding::none; });
    results.profile = "binding";
    const auto table = markdown_text(std::array{results});
    EXPECT_THAT(table, HasSubstr("| team (bpf), 8 ports, transmit, workers follow the packets | -10.0 % |"));
    EXPECT_THAT(table, Not(HasSubstr("| transmit | 8 |"))) << "no rows by ports";
}

TEST(BenchText, fits_80_columns) {
    auto results = sample_results();
    for (auto& measured : results.cases)
        for (std::size_t round = 0; round < measured.rounds.size(); ++round)
            measured.rounds[round].cpus[0].system *= static_cast<double>(1 + round * measured.what.tso);
    const auto text = results_text(results, Prices{.currency = "EUR", .server = 5'000});
    EXPECT_THAT(text, HasSubstr("rounds within 5 % no: "));
    EXPECT_THAT(lines_of(text), Each(SizeIs(Le(columns))));
}

TEST(BenchText, says_that_a_limit_is_not_known) {
    auto results = sample_results();
    for (auto& measured : results.cases)
        measured.limit = Limit::unknown;
    const auto text = results_text(results);
    EXPECT_THAT(text, HasSubstr("/1.797  not known\n"));
    EXPECT_THAT(lines_of(text), Each(SizeIs(Le(columns))));
}

TEST(BenchText, says_that_other_programs_ran) {
    auto results = sample_results();
    results.machine.other_work = 0.3;
    EXPECT_THAT(results_text(results), HasSubstr("kept 30 %"));
    results.machine.other_work = 0.01;
    EXPECT_THAT(results_text(results), testing::Not(HasSubstr("other programs")));
}

TEST(BenchText, shows_what_was_measured_without_tso_alone) {
    auto results = sample_results();
    std::erase_if(results.cases, [](const Measured& one) { return one.what.tso; });
    const auto text = results_text(results);
    EXPECT_THAT(text, testing::Not(HasSubstr("nothing was measured")));
    EXPECT_THAT(text,
                HasSubstr("\nwith TSO off                              transmit     receive   both ways\n"
                          "ports                                            8           8           8\n"
                          "throughput, Mbit/s                            7528        7528        8935\n"));
    EXPECT_THAT(text, HasSubstr("all figures:\nwith TSO off "));
    EXPECT_THAT(text, HasSubstr("of the single ports' sum"));
}

TEST(BenchText, of_requests_alone_has_their_latencies) {
    auto results = sample_results();
    std::erase_if(results.cases, [](const Measured& one) { return one.what.load != Load::request; });
    for (auto& one : results.cases)
        for (auto& round : one.rounds)
            round.sent = round.received = 0;
    const auto text = results_text(results);
    EXPECT_THAT(text, testing::Not(HasSubstr("nothing was measured")));
    EXPECT_THAT(text, testing::Not(HasSubstr("us/KiB"))) << "a table of dashes";
    EXPECT_THAT(text, HasSubstr("latency, median, us 55"));
    EXPECT_THAT(text, HasSubstr("latency, median, us 52"));
}

TEST(BenchText, of_nothing) { EXPECT_THAT(results_text({}), HasSubstr("nothing was measured\n")); }

TEST(BenchMarkdown, has_a_row_for_each_way_and_number_of_ports) {
    const auto one = sample_results();
    const std::vector both{one, one};
    const auto table = markdown_text(both);
    EXPECT_THAT(
        table,
        HasSubstr("\n| both ways | 8 | 15056 | 8935 | 100 % | 90 % | 67/98 | 0.732/1.797 | shaper |\n"));
    EXPECT_THAT(table, HasSubstr("Example CPU \\<model\\>"));
    EXPECT_THAT(table, testing::Not(HasSubstr("| case |"))) << "by ways and ports alone";
}

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

Results results_in(const std::filesystem::path& file) {
    const auto text = read_text(file);
    return from_json(json::parse(text, {.bytes = text.size()}).value()).value();
}

void expect_table(const std::filesystem::path& document, std::span<const Results> results) {
    EXPECT_THAT(read_text(document),
                HasSubstr("<!-- table -->\n" + markdown_text(results) + "<!-- end -->\n"))
        << "tests/bench/update_table.sh puts it there";
}

TEST(BenchMarkdown, is_the_table_of_the_documents) {
    const std::filesystem::path source(TEAMO_SOURCE_DIR);
    const auto folder = source / "tests/bench/results";
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.insert(entry.path());
    std::vector<Results> results;
    for (const auto& file : files)
        results.push_back(results_in(file));
    expect_table(source / "docs/performance.md", results);
    expect_table(source / "README.md", std::array{results_in(folder / "host.json")});
}

TEST(BenchMarkdown, has_a_table_of_the_peers_with_the_ports_alone_first) {
    Results results{.profile = "peers"};
    for (const auto& what : {Case{.datapath = "bpf"}, Case{.datapath = "team"}, Case{.over = Carrier::bond},
                             Case{.over = Carrier::ports}})
        results.cases.push_back(sample_case(what));
    const auto table = markdown_text(std::span(&results, 1));
    const auto place = [&](std::string_view over) {
        return table.find(fmt::format("| {}, 1 port, transmit |", over));
    };
    EXPECT_LT(place("ports alone"), place("team (bpf)"));
    EXPECT_LT(place("team (bpf)"), place("team (team)"));
    EXPECT_LT(place("team (team)"), place("bonding"));
    EXPECT_LT(place("bonding"), table.size());
}

} // namespace
} // namespace teamo::bench
