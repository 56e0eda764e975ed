import HTTPTypes
package import Hummingbird

extension Request {
    /// Whether the body is said to be of a media type, whatever its parameters (RFC 9110, 8.3.1).
    ///
    /// - Parameter type: The type in small letters; what is sent may have capital ones.
    package func isOfType(_ type: StaticString) -> Bool {
        FieldValue((headers[.contentType] ?? "").utf8).isValue(type)
    }
}
