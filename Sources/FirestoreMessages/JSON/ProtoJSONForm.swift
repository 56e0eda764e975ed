/// The JSON form of messages.
package enum ProtoJSONForm: Sendable {
    /// The JSON mapping of Protocol Buffers.
    case standard
    /// The mapping, or what protobuf.js writes to bundles: timestamps as messages with `seconds` and `nanos`, and wrapped numbers as
    /// messages with a `value`.
    case protobufJS
}
