internal import DocumentModel
internal import HearthWire
internal import StrictJSON
internal import SyncEngine
internal import UTF8Text

// MARK: Base values

private let pathKey: UTF8Key = "path"
private let fieldKey: UTF8Key = "field"
private let valueKey: UTF8Key = "value"

extension StoredJSON {
    /// Encodes the base values of a batch: an array of `{"path", "field", "value"}`; `nil` if there are none.
    static func encode(_ values: [MutationBatch.BaseValue]) -> [UInt8]? {
        guard !values.isEmpty else { return nil }
        return encode { writer in
            writer.beginArray()
            for value in values {
                writer.beginObject()
                writer.key(pathKey)
                writer.string(value.path.string)
                writer.key(fieldKey)
                writer.string(value.field.description)
                writer.key(valueKey)
                value.value.write(to: &writer)
                writer.endObject()
            }
            writer.endArray()
        }
    }

    static func baseValues(_ bytes: [UInt8]) throws -> [MutationBatch.BaseValue] {
        try root(of: bytes).array().map { json in
            MutationBatch.BaseValue(
                path: try DocumentPath(json.member(pathKey).text()),
                field: try FieldPath(json.member(fieldKey).text()),
                value: try Value(json: json.member(valueKey))
            )
        }
    }
}

// MARK: Pending timestamps

private let estimateKey: UTF8Key = "estimate"
private let previousKey: UTF8Key = "previous"

extension StoredJSON {
    /// Encodes the pending timestamps of an overlay: an array of `{"field", "estimate", "previous"?}`; `nil` if there are none.
    static func encode(_ timestamps: [FieldPath: PendingTimestamp]) -> [UInt8]? {
        guard !timestamps.isEmpty else { return nil }
        return encode { writer in
            writer.beginArray()
            for (field, timestamp) in timestamps {
                writer.beginObject()
                writer.key(fieldKey)
                writer.string(field.description)
                writer.key(estimateKey)
                writer.integer(timestamp.estimate.microseconds)
                if let previous = timestamp.previous {
                    writer.key(previousKey)
                    previous.write(to: &writer)
                }
                writer.endObject()
            }
            writer.endArray()
        }
    }

    static func pendingTimestamps(_ bytes: [UInt8]) throws -> [FieldPath: PendingTimestamp] {
        var timestamps: [FieldPath: PendingTimestamp] = [:]
        for json in try root(of: bytes).array() {
            timestamps[try FieldPath(json.member(fieldKey).text())] = PendingTimestamp(
                estimate: try json.member(estimateKey).time(),
                previous: try json[previousKey].map { try Value(json: $0) }
            )
        }
        return timestamps
    }
}

// MARK: Targets

private let bundleKey: UTF8Key = "bundle"

extension StoredJSON {
    /// Encodes a target: `{"document": …}`, `{"bundle": …}`, or the parameters of `query.run`. Equal targets have equal bytes, and others have others.
    static func encode(_ target: SyncTarget) -> [UInt8] {
        encode { writer in
            writer.beginObject()
            switch target {
            case .document(let path):
                writer.key(WatchTargetKeys.document)
                writer.string(path.string)
            case .query(let query):
                query.writeMembers(to: &writer)
            case .bundle(let id):
                writer.key(bundleKey)
                writer.string(id.string)
            }
            writer.endObject()
        }
    }
}
