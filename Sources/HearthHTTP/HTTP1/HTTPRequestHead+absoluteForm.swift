import NIOHTTP1

extension HTTPRequestHead {
    /// Converts a target in absolute form, `http://host:port/path`, to origin form, and replaces `Host` with its authority
    /// (RFC 9112, 3.2.2), so that the host check applies to the requested authority.
    mutating func resolveAbsoluteForm() {
        guard uri.utf8.first != UInt8(ascii: "/") else { return }
        let target = Array(uri.utf8)
        // A request with no Host, or with several, is rejected later.
        guard let scheme = target.firstRange(of: Array("://".utf8)), headers["host"].count == 1 else { return }
        let authorityAndPath = target[scheme.upperBound...]
        let authority = authorityAndPath.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let path = authorityAndPath.dropFirst(authority.count)
        headers.replaceOrAdd(name: "host", value: String(decoding: authority, as: UTF8.self))
        uri = (path.first == UInt8(ascii: "/") ? "" : "/") + String(decoding: path, as: UTF8.self)
    }
}
