import HTTPTypes
package import HummingbirdCore

extension Request {
    /// The raw query of the target, without the question mark.
    package var rawQuery: Substring.UTF8View {
        (head.path ?? "").utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    }
}
