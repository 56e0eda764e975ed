import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreREST
import NIOCore
import StrictJSON
import UTF8Text

extension ByteBuffer {
    /// Returns the body of a JSON-RPC request.
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

    /// Returns the bodies of batch requests with `count` calls each.
    static func batches(of count: Int, _ calls: [ByteBuffer]) -> [ByteBuffer] {
        stride(from: 0, to: calls.count, by: count).map { start in
            var writer = JSONWriter()
            writer.beginArray()
            for call in calls[start...].prefix(count) { writer.raw(call.readableBytesView) }
            writer.endArray()
            return ByteBuffer(bytes: writer.finish())
        }
    }
}

extension ByteBuffer {
    /// Returns a `documents.commit` call that writes a document to another collection.
    static func commit(_ document: Document, in collection: String) -> ByteBuffer {
        call("documents.commit") { params in
            params.key("writes")
            params.beginArray()
            params.beginObject()
            params.key("set")
            params.beginObject()
            params.key("path")
            params.string(collection + "/" + document.path.id.description)
            params.key("fields")
            document.fields.write(to: &params)
            params.endObject()
            params.endObject()
            params.endArray()
        }
    }

    /// Returns the body of the equivalent Firestore `:commit` request.
    static func firestoreCommit(_ document: Document, in collection: String, of database: DatabaseName) -> ByteBuffer {
        var writer = JSONWriter(reservingCapacity: 3_000)
        writer.beginObject()
        writer.key("writes")
        writer.beginArray()
        writer.beginObject()
        writer.key("update")
        writer.beginObject()
        writer.key("name")
        writer.string("\(database.root.string)/\(collection)/\(document.path.id)")
        writer.key("fields")
        writer.beginObject()
        for (name, value) in document.fields {
            writer.key(name)
            writer.write(value, in: database)
        }
        writer.endObject()
        writer.endObject()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return ByteBuffer(bytes: writer.finish())
    }
}

extension HTTPLoad {
    /// The prefix of a successful JSON-RPC response.
    static let result = #"{"jsonrpc":"2.0","id":1,"result":"#
}
