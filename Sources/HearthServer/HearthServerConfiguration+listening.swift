package import DocumentModel
internal import Glibc
internal import NIOCore

extension HearthServerConfiguration {
    /// Whether the server is reached from this machine only.
    var isLoopback: Bool {
        if let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress {
            address.utf8.starts(with: "127.".utf8) || address.utf8.elementsEqual("::1".utf8)
        } else {
            host.utf8.elementsEqual("localhost".utf8)
        }
    }

    /// Whether the server is reached by all addresses that the machine has.
    var isWildcard: Bool {
        guard let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress else { return false }
        return address.utf8.elementsEqual("0.0.0.0".utf8) || address.utf8.elementsEqual("::".utf8)
    }

    /// Makes sure that nobody else than this machine reaches a server without keys.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` when there are none and ``host`` is not a loopback address.
    package func checkHost(hasKeys: Bool) throws(StatusError) {
        guard !isLoopback, !hasKeys else { return }
        throw StatusError(
            .failedPrecondition,
            "There are no keys, so whoever reached \(Excerpt(host)) could read and change everything. Make one first, with hearth keys "
                + "create --role admin --data DIR, or listen on this machine only (127.0.0.1, ::1 or localhost)."
        )
    }

    /// Makes sure that no proxy lets others reach a server without keys.
    ///
    /// - Throws: ``StatusCode/failedPrecondition`` when there are none, and proxies that are trusted to name whom they let in.
    package func checkProxies(hasKeys: Bool) throws(StatusError) {
        guard !trustedProxies.isEmpty, !hasKeys else { return }
        throw StatusError(
            .failedPrecondition,
            "There are no keys, so whoever a proxy lets in could read and change everything. Make one first, with hearth keys create "
                + "--role admin --data DIR, or leave --trusted-proxy out."
        )
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
