internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

extension StoredJSON {
    /// Encodes the writes of a batch: an array of objects. Decoding returns equal ones.
    static func encode(_ writes: [Write]) -> [UInt8] {
        encode { writer in
            writer.beginArray()
            for write in writes { write.write(storedTo: &writer) }
            writer.endArray()
        }
    }

    /// Encodes the writes of a new batch, and makes sure that they can be decoded.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if they cannot, since they are beyond all limits.
    static func encode(verified writes: [Write]) throws(StatusError) -> [UInt8] {
        let bytes = encode(writes)
        do {
            guard try self.writes(bytes) == writes else { throw CacheDatabaseError(corruption: "decoding returns other writes") }
        } catch {
            throw StatusError(.invalidArgument, "The writes cannot be queued: \((error as? StatusError)?.message ?? "\(error)")")
        }
        return bytes
    }

    static func writes(_ bytes: [UInt8]) throws -> [Write] {
        try root(of: bytes).array().map { try Write(storedJSON: $0) }
    }
}
