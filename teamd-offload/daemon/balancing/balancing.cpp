// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/balancing/balancing.h"

#include "balance/buckets.h"

#include <algorithm>

namespace teamo {
namespace {

using namespace std::chrono_literals;

/// Polling interval while buckets wait to move; with the team driver also the resolution of their pauses.
constexpr auto tick = 5ms;
/// Polling interval of the queues if every flow waits for its own pause: half of the shortest drain time of
/// a plan (make_plan.cpp), so that a burst is seen before any flow's pause is over.
constexpr auto flow_tick = 10ms;
constexpr auto quiet_tick = 100ms; ///< while nothing is sent
constexpr auto present = 1ms;      ///< a reading no older is as good as a new one
constexpr auto least_interval = 100ms;
/// Less than this, in bytes/s, is not worth moving: some thousandth of a GigE port. A team at rest has a few
/// small bursts, whose differences are always above the tolerance.
constexpr double idle_load = 100e3;
constexpr std::size_t max_past_moves = 32;
constexpr int rest_intervals = 10; ///< for which a bucket that never paused is not moved again
constexpr auto rate_interval = 1s; ///< of the rates that `teamoctl balance show` prints
/// Drain times are rounded up to this step, so that a pass is not requested for every byte in a queue.
constexpr auto drain_step = std::chrono::nanoseconds(250us);

double bytes_per_second(std::uint32_t megabits) { return megabits * 125e3; }

} // namespace

Result<std::unique_ptr<Balancing>> Balancing::make(TeamContext& context, const PortCpus& cpus) {
    std::unique_ptr<Balancing> balancing(new Balancing(context, cpus));
    auto* self = balancing.get();
    self->interval_ = TEAMO_TRY(Timer::make(context.loop, [self] { self->measure(); }));
    self->tick_ = TEAMO_TRY(Timer::make(context.loop, [self] { self->reconcile(); }));
    self->second_ = TEAMO_TRY(Timer::make(context.loop, [self] { self->measure_rates(); }));
    return balancing;
}

void Balancing::follow(std::vector<Port> ports, const Tables& tables) {
    ports_ = std::move(ports);
    const bool moved_by_flow = moves_by_flow();
    tables_ = tables;
    // Another device begins with what is known of no queue.
    std::erase_if(queues_, [this](const auto& entry) {
        return std::ranges::find(ports_, entry.first, &Port::index) == ports_.end();
    });
    if (!moves_by_flow() || moved_by_flow) return;
    tick_->after(flow_tick);
    if (moves_.empty()) return;
    moves_ = {}; // the flows wait now, not the buckets
    context_.request_pass();
}

std::chrono::milliseconds Balancing::interval() const {
    return std::max<std::chrono::milliseconds>(config().interval, least_interval);
}

void Balancing::start() {
    rates_.fill(-1);
    interval_->about(interval());
    if (has_loads()) static_cast<void>(count());
    measure_rates();
}

void Balancing::reconfigure(const BalanceConfig& before) {
    if (config().interval != before.interval) meter_ = LoadMeter{interval()};
    if (!config().wait_for_gap) moves_ = {}; // the next pass moves them
    if (config() != before) start();
}

/// For users: loads by bucket are smoothed, and with the team driver read only while the team is balanced.
void Balancing::measure_rates() {
    second_->about(sending_ ? rate_interval : context_.shared.pause(rate_interval));
    sending_ = true; // as far as is known
    if (tables_.mode != TransmitMode::hash) return;
    const auto counters = datapath().read_counters();
    if (!counters) return;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - sent_at_.value_or(now)).count();
    sending_ = !sent_at_;
    for (std::size_t slot = 0; slot < counters->size(); ++slot) {
        const auto sent = (*counters)[slot].tx_bytes;
        // Another device in the slot starts at its own count.
        const auto since = sent >= sent_by_slot_[slot] ? sent - sent_by_slot_[slot] : 0;
        if (seconds > 0) rates_[slot] = static_cast<double>(since) / seconds;
        sending_ = sending_ || since != 0;
        sent_by_slot_[slot] = sent;
    }
    sent_at_ = now;
    sent_since_ = sent_since_ || sending_;
    if (sending_ && std::exchange(pausing_, false)) {
        meter_ = LoadMeter{interval()};
        measure();
    }
}

/// Hash by CPU, on a datapath that detects pauses: buckets never move, but every flow may.
bool Balancing::moves_by_flow() const {
    return has(tables_.hash_fields, HashField::cpu) && datapath().moves_in_gaps();
}

void Balancing::update_drains() {
    const auto sent = sent_;
    read_queues(present);
    // A longer drain time is used at once, a shorter one can wait.
    const bool longer = !std::ranges::equal(drains_, reported_drains_, std::less_equal{});
    if (longer || (drains_ != reported_drains_ && Clock::now() - reported_at_ >= quiet_tick)) {
        reported_drains_ = drains_;
        reported_at_ = Clock::now();
        context_.request_pass();
    }
    tick_->after(sent_ != sent ? flow_tick : quiet_tick);
}

/// Without balancing the team driver has no counters per bucket; they would need a program of ours.
bool Balancing::has_loads() const {
    return tables_.mode == TransmitMode::hash && (config().on || datapath().moves_in_gaps());
}

/// One interval: reads what each bucket has transmitted since the last one, and moves buckets if that pays.
void Balancing::measure() {
    interval_->about(interval());
    if (!has_loads()) return;
    const bool sent = std::exchange(sent_since_, sending_);
    pausing_ = !sent && counted_ && meter_.loads() == BucketLoads{} && interval() > rate_interval;
    if (pausing_) return;
    read_queues(quiet_tick);
    if (count() && config().on && !frozen_) place();
}

/// False: they cannot be read now.
bool Balancing::count() {
    const auto counters = datapath().read_buckets();
    counted_ = counters.has_value();
    if (!counters) {
        if (counters.error().number != EAGAIN)
            failure_(log_, Level::warning, "balance: cannot read the loads: ", counters.error().text);
        return false;
    }
    failure_.clear();
    meter_.step(*counters, Clock::now());
    return true;
}

void Balancing::place() {
    std::vector<BalancedPort> ports;
    for (const auto& port : ports_)
        ports.push_back({.slot = port.slot,
                         .capacity = bytes_per_second(port.speed),
                         .segments = port.segments,
                         .cpu_load = cpus_.load(port.index),
                         .weight = static_cast<double>(port.weight.value_or(0))});
    apply_weights(ports);
    std::erase_if(ports, [this](const BalancedPort& port) { return !may_carry(port.slot); });
    if (ports.size() < 2) return;
    const auto now = Clock::now();
    std::erase_if(resting_, [now](const auto& entry) { return entry.second <= now; });
    RestingBuckets resting;
    for (const auto& [bucket, until] : resting_)
        resting.set(bucket);
    // The port of each bucket, now or after its pending move. A port that is down stays the owner of its
    // buckets; until it is up they use other ports.
    BucketOwners places = owners();
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket)
        if (!moves_.waits(static_cast<std::uint8_t>(bucket)))
            if (const auto slot = leaves_by(tables_, bucket)) places[bucket] = slot;
    const auto placement =
        teamo::place(places, meter_.loads(), ports, {.aware = config().aware, .idle = idle_load}, resting);
    planned_ = placement.planned;
    std::size_t begun = 0;
    for (const auto& move : placement.moves)
        if (begin(move)) ++begun;
    if (begun == 0) return;
    log_(Level::info, fmt::format("balance: moving {} of {} buckets to other ports", begun, bucket_count));
    context_.request_pass();
}

/// False: the bucket is on its way there, or there already.
bool Balancing::begin(const BucketMove& move) {
    // It may just have moved, and must not be moved back: the tables show that only after the next pass.
    const bool waited = moves_.waits(move.bucket);
    if (waited) reconcile();
    auto& owner = owners()[move.bucket];
    const auto from = waited && !moves_.waits(move.bucket) ? owner : leaves_by(tables_, move.bucket);
    if (owner == move.to) return false;
    log_(Level::debug,
         fmt::format("balance: bucket {} from {} to {}, {}, gain {:.1f} %", move.bucket, port_name(move.from),
                     port_name(move.to), name_of(move.reason), move.gain * 100));
    owner = move.to;
    // The port that transmits its packets now; not its owner while the owner is down.
    auto begun = move;
    begun.from = from;
    if (!config().wait_for_gap || !begun.from) {
        moves_.cancel(move.bucket);
        note({.move = move, .end = MoveEnd::forced});
        return true;
    }
    moves_.begin(begun, Clock::now());
    tick_->after(tick);
    return true;
}

bool Balancing::may_carry(Slot slot) const {
    const auto found = std::ranges::find(ports_, slot, &Port::slot);
    return found != ports_.end() && found->transmits;
}

Result<> Balancing::move(std::uint8_t bucket, Slot to, bool now) {
    if (tables_.mode != TransmitMode::hash)
        return fail(EINVAL, "the runner has no buckets to move: it does not hash");
    if (has(tables_.hash_fields, HashField::cpu))
        return fail(EINVAL, "there are no buckets to move: the sending CPU decides");
    if (!may_carry(to)) return fail(ENODEV, port_name(to) + " does not carry, or is drained");
    const BucketMove wanted{
        .bucket = bucket, .from = leaves_by(tables_, bucket), .to = to, .reason = MoveReason::by_hand};
    if (now) {
        moves_.cancel(bucket);
        at_once_.insert(bucket);
        owners()[bucket] = to;
        if (wanted.from != to) note({.move = wanted, .end = MoveEnd::forced});
    } else {
        read_queues(present); // the program needs the present drain times
        begin(wanted);
    }
    context_.request_pass();
    return {};
}

void Balancing::hold(const Tables& now, Tables& next, bool by_drain) {
    const auto at_once = std::exchange(at_once_, {}), waited = std::exchange(waited_, {});
    const bool waits = config().on || (by_drain && datapath().moves_in_gaps());
    if (!waits || !config().wait_for_gap || next.mode != TransmitMode::hash || now.mode != next.mode) return;
    if (has(next.hash_fields, HashField::cpu) && datapath().moves_in_gaps()) return; // each flow waits
    bool any = false;
    for (std::size_t index = 0; index < bucket_count; ++index) {
        const auto bucket = static_cast<std::uint8_t>(index);
        const auto was = leaves_by(now, index), will = leaves_by(next, index);
        if (waited.contains(bucket) || at_once.contains(bucket)) continue;
        if (!was || was == will || (next.transmit & bit(was)) == 0 ||
            now.ports[was.value] != next.ports[was.value] || moves_.waits(bucket))
            continue;
        if (!any) {
            read_queues(present); // the last drain times may be of an interval ago
            next.drain = drains_;
        }
        moves_.begin({.bucket = bucket, .from = was, .to = will, .reason = MoveReason::membership},
                     Clock::now());
        any = true;
    }
    if (!any) return;
    next.leaving = moves_.leaving();
    tick_->after(tick);
}

/// While buckets wait: reads the queues, and ends the moves whose waiting is over.
void Balancing::reconcile() {
    if (moves_by_flow()) return update_drains();
    if (moves_.empty()) return;
    read_queues(present);
    const auto observe = [this](std::uint8_t bucket) {
        const auto counted = datapath().read_bucket(bucket);
        return Moves::Seen{.moved = datapath().moves_in_gaps() && datapath().has_moved(bucket),
                           .packets = counted ? std::optional(counted->packets) : std::nullopt};
    };
    for (const auto& ended : moves_.step(Clock::now(), tables_.transmit, drains_, config(), observe)) {
        if (ended.end == MoveEnd::given_up) {
            owners()[ended.move.bucket] = ended.move.from;
            resting_[ended.move.bucket] = Clock::now() + rest_intervals * interval();
        }
        waited_.insert(ended.move.bucket);
        note(ended);
    }
    context_.request_pass();
    if (!moves_.empty()) tick_->after(tick);
}

/// `age`: of the reading, at most.
void Balancing::read_queues(std::chrono::milliseconds age) {
    const auto queues = context_.shared.queues(age, ports_);
    if (!queues) return; // the bounds stay as they were
    sent_ = 0;
    for (const auto& port : ports_) {
        const auto& queue = (*queues)->of(port.index);
        sent_ += queue.sent;
        const auto drain = queues_[port.index].step(queue, port.speed, (*queues)->read);
        drains_[port.slot.value] = (drain + drain_step - 1ns) / drain_step * drain_step;
    }
}

void Balancing::note(const Moves::Ended& ended) {
    if (ended.end != MoveEnd::given_up) ++moved_;
    past_.push_front({.status = status_of(ended), .at = Clock::now()});
    if (past_.size() > max_past_moves) past_.pop_back();
    const auto& last = past_.front().status;
    const auto line = fmt::format("balance: bucket {} {} {} to {} ({}) after {} ms", last.bucket,
                                  ended.end == MoveEnd::given_up ? "was not moved from" : "moved from",
                                  last.from, last.to, name_of(last.end), last.waited.count());
    // A forced move may have reordered packets: the administrator should see it.
    log_(ended.end == MoveEnd::forced && config().wait_for_gap ? Level::notice : Level::debug, line);
}

std::string Balancing::port_name(Slot slot) const {
    const auto found = std::ranges::find(ports_, slot, &Port::slot);
    return found == ports_.end() ? "no port" : found->name;
}

MoveStatus Balancing::status_of(const Moves::Ended& ended) const {
    return {.bucket = ended.move.bucket,
            .from = port_name(ended.move.from),
            .to = port_name(ended.move.to),
            .gain = ended.move.gain,
            .reason = ended.move.reason,
            .end = ended.end,
            .waited = ended.waited};
}

BalanceStatus Balancing::status() const {
    BalanceStatus status{.config = config(),
                         .moved = moved_,
                         .counted = counted_,
                         .frozen = frozen_,
                         .tx_hash = tables_.hash_fields,
                         .loads = meter_.loads()};
    std::map<Slot, PortBalance> ports;
    for (const auto& port : ports_)
        ports[port.slot] = {.name = port.name,
                            .rate = rates_[port.slot.value],
                            .planned = planned_[port.slot.value],
                            .capacity = bytes_per_second(port.speed),
                            .segments = port.segments,
                            .cpu_load = cpus_.load(port.index),
                            .interrupt_cpus = cpus_.interrupt_cpus(port.index),
                            .cpus = cpus_of(tables_.cpu_slots, port.slot)};
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
        const auto found = ports.find(leaves_by(tables_, bucket));
        if (found == ports.end()) continue;
        auto& [slot, port] = *found;
        status.leaves_by[bucket] = port.name;
        for (const auto next : tables_.buckets[bucket])
            if (next != slot && (tables_.transmit & bit(next)) != 0)
                status.next_ports[bucket].push_back(port_name(next));
        port.bytes += meter_.loads()[bucket].bytes;
        port.packets += meter_.loads()[bucket].packets;
        port.bulk += meter_.loads()[bucket].bulk;
    }
    for (auto& entry : ports)
        status.ports.push_back(std::move(entry.second));
    const auto ago = [now = Clock::now()](Clock::time_point then) {
        return std::chrono::duration_cast<std::chrono::milliseconds>(now - then);
    };
    for (const auto& [bucket, waiting] : moves_.waiting()) {
        status.moves.push_back(status_of({waiting.move, MoveEnd::pending, ago(waiting.since)}));
        status.moves.back().ago = ago(waiting.since);
    }
    for (const auto& past : past_) {
        status.moves.push_back(past.status);
        status.moves.back().ago = ago(past.at);
    }
    return status;
}

} // namespace teamo
