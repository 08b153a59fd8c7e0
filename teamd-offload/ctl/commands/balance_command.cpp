// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/whole_number.h"
#include "ctl/commands.h"
#include "ctl/output.h"
#include "ctl/report/tables.h"

namespace teamo::ctl {
namespace {

using Document = json::Value (*)(const TeamState&);
using Text = std::string (*)(const TeamState&);

CommandResult show(Session& session, Document document, Text text) {
    const auto state = TEAMO_TRY(session.state());
    if (session.options().json)
        session.print(document(state));
    else
        put(text(state));
    return {};
}

} // namespace

CommandResult balance_show(Session& session, Arguments) { return show(session, balance_json, balance_text); }

CommandResult stats_show(Session& session, Arguments) { return show(session, stats_json, stats_text); }

Result<> check_balance_move(Arguments arguments) {
    const auto& bucket = arguments[0];
    if (const auto number = whole_number<std::size_t>(bucket); !number || *number >= bucket_count)
        return fail(EINVAL,
                    fmt::format(R"("{}" is not a bucket; buckets are 0 to {}.)", bucket, bucket_count - 1));
    if (arguments.size() > 2 && arguments[2] != "now")
        return fail(EINVAL, fmt::format(R"("{}" is not valid here; only "now" is.)", arguments[2]));
    return {};
}

CommandResult balance_move(Session& session, Arguments arguments) {
    const auto bucket = whole_number<std::uint8_t>(arguments[0]); // check_balance_move()
    const auto time = arguments.size() > 2 ? control::MoveTime::now : control::MoveTime::gap;
    return send_command(session, control::BalanceMove{*bucket, arguments[1], time});
}

CommandResult balance_freeze(Session& session, Arguments) {
    return send_command(session, control::BalanceFreeze{true});
}

CommandResult balance_thaw(Session& session, Arguments) {
    return send_command(session, control::BalanceFreeze{false});
}

} // namespace teamo::ctl
