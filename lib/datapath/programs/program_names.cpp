// SPDX-License-Identifier: LGPL-2.1-or-later
#include "datapath/programs/device_programs.h"

#include "datapath/bpf/abi.h"
#include "kernel/bpf/load_program.h"
#include "names.skel.h"

#include <bpf/libbpf.h>

#include <cstring>

namespace teamo {
namespace {

Result<UniqueFd> open_iterator() {
    const Handle<teamo_names, teamo_names__destroy> skeleton(teamo_names__open());
    if (!skeleton) return fail_errno(errno, "cannot open the BPF program that reads names");
    TEAMO_TRY(
        load_programs("the BPF program that reads names", [&] { return teamo_names__load(skeleton.get()); }));
    return link_iterator(bpf_program__fd(skeleton->progs.teamo_names), "programs");
}

} // namespace

Result<bool> ProgramNames::are_known() {
    if (!link_) {
        auto opened = open_iterator();
        if (!opened && may_load_later(opened.error())) return tl::unexpected(std::move(opened.error()));
        link_ = opened ? std::move(*opened) : UniqueFd();
    }
    return static_cast<bool>(*link_);
}

Result<std::string> ProgramNames::of(ProgramId id) {
    if (!names_.contains(id) && TEAMO_TRY(are_known())) {
        constexpr std::size_t most = 100'000; // more than any machine has
        const auto records = read_records<teamo_program_name>(*link_, "programs", most);
        if (records) {
            names_.clear();
            for (const auto& record : *records)
                names_.insert_or_assign(ProgramId{record.id},
                                        std::string(record.name, ::strnlen(record.name, sizeof record.name)));
        } else if (is_passing(records.error())) {
            return tl::unexpected(records.error());
        }
    }
    return names_[id]; // one that is gone is not looked for again
}

} // namespace teamo
