// SPDX-License-Identifier: LGPL-2.1-or-later
#include "workers/socket_source.h"

#include "workers/descriptor_reader.h"

namespace teamo {

SocketSource SocketSource::open() {
    SocketSource source;
    if (auto reader = SocketReader::open())
        source.reader_ = std::move(*reader);
    else
        source.limitations_ = fmt::format("{} ({})", descriptor_limitations, reader.error().text);
    return source;
}

Result<std::vector<SocketTraffic>> SocketSource::read() const {
    return reader_ ? reader_->read() : read_descriptors();
}

} // namespace teamo
