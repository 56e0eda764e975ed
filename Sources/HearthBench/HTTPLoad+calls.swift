import NIOCore
import StrictJSON

extension ByteBuffer {
    /// A call's request body.
    static func call(_ method: String, _ params: (inout JSONWriter) -> Void) -> ByteBuffer {
        var writer = JSONWriter(reservingCapacity: 1_500)
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.integer(1)
        writer.key("method")
        writer.string(method)
        writer.key("params")
        writer.beginObject()
        params(&writer)
        writer.endObject()
        writer.endObject()
        return ByteBuffer(bytes: writer.bytes)
    }
}

extension HTTPLoad {
    /// What the answer to a call that succeeded begins with.
    static let result = #"{"jsonrpc":"2.0","id":1,"result":"#
}
