package import DocumentModel
internal import Glibc
internal import NIOCore

extension HearthServerConfiguration {
    /// Checks that the server would be reached from this machine only.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when ``host`` is not a loopback address.
    package func checkHost() throws(StatusError) {
        let isLoopback =
            if let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress {
                address.utf8.starts(with: "127.".utf8) || address.utf8.elementsEqual("::1".utf8)
            } else {
                host.utf8.elementsEqual("localhost".utf8)
            }
        guard isLoopback else {
            throw StatusError(
                .invalidArgument,
                "Expected a loopback address to listen on (127.0.0.1, ::1 or localhost), found \(Excerpt(host)). There are no keys "
                    + "yet to tell callers apart, so whoever reached the port could read and change everything. Listen on "
                    + "127.0.0.1, and put a proxy that knows its callers in front."
            )
        }
    }

    /// Why the server can't listen, in the system's words, and what to do.
    func listeningFailure(_ error: IOError) -> StatusError {
        let advice =
            switch error.errnoCode {
            case EADDRINUSE: " Stop the program that has this port, or choose another one; --port 0 lets the system pick one."
            case EACCES: " Ports below 1024 need a special right; choose another one, or --port 0 to let the system pick one."
            default: ""
            }
        return StatusError(
            .unavailable,
            "Can't listen on \(host), port \(port): \(String(cString: strerror(error.errnoCode))).\(advice)",
            cause: error
        )
    }
}
