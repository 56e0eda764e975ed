import NIOHTTP1

extension HTTPRequestHead {
    /// Turns a target in absolute form, `http://host:port/path`, into the path, and puts its host and port in place of those
    /// in `Host` (RFC 9112, 3.2.2), so that what is checked there is what the request names.
    mutating func resolveTarget() {
        let target = Array(uri.utf8)
        // A request without Host, or with several, is refused for that.
        guard target.first != UInt8(ascii: "/"), let scheme = target.firstRange(of: Array("://".utf8)), headers["host"].count == 1
        else { return }
        let rest = target[scheme.upperBound...]
        let authority = rest.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let path = rest.dropFirst(authority.count)
        headers.replaceOrAdd(name: "host", value: String(decoding: authority, as: UTF8.self))
        uri = (path.first == UInt8(ascii: "/") ? "" : "/") + String(decoding: path, as: UTF8.self)
    }
}
