package import DocumentModel
package import StrictJSON
internal import UTF8Text

extension ClientReceipts {
    /// Encodes the receipts of a client as JSON on one line.
    ///
    /// - Parameter includesRefusals: False to leave out refusals, after which nothing has happened.
    package func encoded(of client: CommitClientID, includingRefusals includesRefusals: Bool = false) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("client")
        writer.string(client.text)
        writer.key("last")
        writer.integer(Int64(clamping: lastCommitted))
        if includesRefusals, last > lastCommitted {
            writer.key("decided")
            writer.integer(Int64(clamping: last))
        }
        writer.key("lastUse")
        writer.string(lastUse.rfc3339)
        writer.key("answers")
        writer.beginArray()
        for answer in answers {
            switch answer.outcome {
            case .success(let result): Self.write(answer, result, to: &writer)
            case .failure(let error): if includesRefusals { Self.write(answer, error, to: &writer) }
            }
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func begin(_ answer: Answer, in writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("number")
        writer.integer(Int64(clamping: answer.number))
        writer.key("fingerprint")
        writer.integer(Int64(bitPattern: answer.fingerprint))
    }

    private static func write(_ answer: Answer, _ error: StatusError, to writer: inout JSONWriter) {
        begin(answer, in: &writer)
        writer.key("refused")
        writer.string(error.code.name)
        writer.key("message")
        writer.string(error.message)
        for (key, text) in [("path", error.path), ("field", error.field)] as [(UTF8Key, String?)] {
            guard let text else { continue }
            writer.key(key)
            writer.string(text)
        }
        if let index = error.writeIndex {
            writer.key("write")
            writer.integer(Int64(index))
        }
        writer.endObject()
    }

    private static func write(_ answer: Answer, _ result: CommitResult, to writer: inout JSONWriter) {
        begin(answer, in: &writer)
        if let sequence = result.sequence {
            writer.key("sequence")
            writer.integer(Int64(clamping: sequence.rawValue))
        }
        writer.key("commitTime")
        writer.string(result.commitTime.rfc3339)
        if !result.hasDroppedResults {
            writer.key("results")
            CommitReceipt.write(result.writeResults, to: &writer)
        }
        writer.endObject()
    }

    /// Decodes the receipts of a client; `nil` for any other value.
    package static func client(_ json: JSONNode) -> (CommitClientID, ClientReceipts)? {
        guard let client = json["client"]?.string.flatMap({ CommitClientID($0) }), let committed = json[integer: "last"],
            case let decided = json[integer: "decided"] ?? committed, committed >= 0, decided >= max(committed, 1),
            let lastUse = json[time: "lastUse"], let elements = json["answers"]?.elements
        else { return nil }
        var receipts = ClientReceipts(last: UInt64(decided), lastCommitted: UInt64(committed), lastUse: lastUse)
        for element in elements {
            guard let number = element[integer: "number"], number > 0, let fingerprint = element[integer: "fingerprint"],
                let outcome = outcome(element)
            else { return nil }
            receipts.restore(number: UInt64(number), fingerprint: UInt64(bitPattern: fingerprint), outcome)
        }
        return (client, receipts)
    }

    private static func outcome(_ json: JSONNode) -> Result<CommitResult, StatusError>? {
        if let code = json["refused"]?.string {
            guard let code = StatusCode(name: code), let message = json["message"]?.string else { return nil }
            var error = StatusError(code, message, path: json["path"]?.string, field: json["field"]?.string)
            error.writeIndex = json[integer: "write"].flatMap { Int(exactly: $0) }
            return .failure(error.decided)
        }
        guard let commitTime = json[time: "commitTime"] else { return nil }
        var results: [WriteResult]?
        if let json = json["results"] {
            guard let known = CommitReceipt.results(json) else { return nil }
            results = known
        }
        return .success(
            CommitResult(
                sequence: json[integer: "sequence"].map { SequenceNumber(UInt64(clamping: $0)) },
                commitTime: commitTime,
                writeResults: results ?? [],
                hasDroppedResults: results == nil
            )
        )
    }
}
