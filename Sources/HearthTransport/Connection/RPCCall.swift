internal import DocumentModel
internal import HearthWire
package import StrictJSON
package import UTF8Text

/// A JSON-RPC request.
package struct RPCCall: Sendable {
    private let method: UTF8Key
    private let params: [UInt8]

    /// Creates a request. `params` writes the members of the parameters object.
    package init(_ method: UTF8Key, _ params: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        writer.beginObject()
        params(&writer)
        writer.endObject()
        self.method = method
        self.params = writer.finish()
    }

    /// The size of the parameters in bytes.
    package var byteCount: Int { params.count }

    /// The maximum size of parameters in bytes, with which a request is not too large for a server.
    package static let maximumByteCount = (16 << 20) - 1_024

    /// Returns the encoded request.
    ///
    /// - Parameter database: The database; `nil` for the default database.
    func request(id: Int, database: String?) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: params.count + 128)
        write(id: id, database: database, to: &writer)
        return writer.finish()
    }

    static func batch(_ calls: [RPCCall], database: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for (id, call) in calls.enumerated() { call.write(id: id, database: database, to: &writer) }
        writer.endArray()
        return writer.finish()
    }

    private func write(id: Int, database: String?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("jsonrpc")
        writer.string("2.0")
        writer.key("id")
        writer.integer(Int64(id))
        writer.key("method")
        writer.string(method.string)
        writer.key("params")
        writer.raw(params.adding(database: database))
        writer.endObject()
    }
}

extension [UInt8] {
    /// Adds a `database` member to an encoded parameters object, unless `database` is `nil`.
    func adding(database: String?) -> [UInt8] {
        database.map { addingMember("database", $0) } ?? self
    }
}

/// A JSON-RPC response.
struct RPCResponse {
    /// The ID of the request; `nil` in an error that cannot be attributed to a request.
    let id: Int?
    let result: Result<JSONNode, StatusError>

    /// - Throws: `.internal` if the value is not a JSON-RPC response.
    init(_ json: JSONNode, from server: ServerAddress) throws(StatusError) {
        if case .integer(let id)? = json["id"]?.number { self.id = Int(exactly: id) } else { self.id = nil }
        if let result = json["result"] {
            self.result = .success(result)
        } else if let object = json["error"], let error = StatusError(json: object) {
            self.result = .failure(object.isHearthError ? error : error.ofForeignServer)
        } else {
            throw StatusError.unexpectedResponse(from: server)
        }
    }
}
