import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import NIOCore
import SwiftProtobuf
import UTF8Text

extension ByteBuffer {
    /// Creates an uncompressed gRPC message with its prefix.
    init(grpcMessage message: some Message) throws {
        let bytes: [UInt8] = try message.serializedBytes()
        self.init()
        writeInteger(0, as: UInt8.self)
        writeInteger(UInt32(bytes.count))
        writeBytes(bytes)
    }

    /// Reads a message without its prefix; returns `nil` if it is not complete.
    mutating func readGRPCMessage() -> ByteBuffer? {
        guard let count = getInteger(at: readerIndex + 1, as: UInt32.self), readableBytes >= 5 + Int(count) else { return nil }
        moveReaderIndex(forwardBy: 5)
        return readSlice(length: Int(count))
    }

    /// Returns the message that adds a target: all documents of a collection.
    static func listenRequest(_ collection: String) throws -> ByteBuffer {
        let database = DatabaseName(.standard)
        var request = ProtoListenRequest()
        request.database = database.text
        request.addTarget.targetID = 1
        request.addTarget.query.parent = database.root.string
        var selector = ProtoStructuredQuery.CollectionSelector()
        selector.collectionID = collection
        request.addTarget.query.structuredQuery.from = [selector]
        return try ByteBuffer(grpcMessage: request)
    }
}
