// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "control/client.h"
#include "ctl/options.h"
#include "ctl/report/state.h"
#include "json/value.h"

namespace teamo::ctl {

/// One team and the connection to its daemon. open() checks that the daemon controls this team.
class Session {
public:
    static Result<Session> open(const std::string& team, const Options& options);

    const std::string& team() const { return team_; }
    const Options& options() const { return options_; }

    /// The payload of the reply. A refusal is an Error with the daemon's reason, without team and command:
    /// main() adds them to every error.
    Result<std::string> call(const control::Request& request);
    /// The same for requests without a payload in the reply.
    Result<> send(const control::Request& request);
    /// The same for a payload that is JSON.
    Result<json::Value> document(const control::Request& request);
    /// The daemon's state; ENOTSUP if the daemon is a teamd.
    Result<TeamState> state();
    /// Prints as teamdctl does: sorted, indented by 4 or with -o in one line.
    void print(const json::Value& value) const;

private:
    Session(std::string team, Options options, control::Client client)
        : team_(std::move(team)), options_(std::move(options)), client_(std::move(client)) {}
    Result<> check_device();

    std::string team_;
    Options options_;
    control::Client client_;
};

} // namespace teamo::ctl
