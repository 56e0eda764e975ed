package import DocumentModel
package import StrictJSON
internal import UTF8Text

extension ClientReceipts {
    /// Encodes the receipts of a client as JSON on one line, without refusals, after which nothing has happened.
    package func encoded(of client: CommitClientID) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("client")
        writer.string(client.text)
        writer.key("last")
        writer.integer(Int64(clamping: lastCommitted))
        writer.key("lastUse")
        writer.string(lastUse.rfc3339)
        writer.key("answers")
        writer.beginArray()
        for answer in answers {
            if case .success(let result) = answer.outcome { Self.write(answer, result, to: &writer) }
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ answer: Answer, _ result: CommitResult, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("number")
        writer.integer(Int64(clamping: answer.number))
        writer.key("fingerprint")
        writer.integer(Int64(bitPattern: answer.fingerprint))
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
        guard let client = json["client"]?.string.flatMap({ CommitClientID($0) }), let last = json[integer: "last"], last > 0,
            let lastUse = json[time: "lastUse"], let elements = json["answers"]?.elements
        else { return nil }
        var receipts = ClientReceipts(last: UInt64(last), lastUse: lastUse)
        for element in elements {
            guard let number = element[integer: "number"], number > 0, let fingerprint = element[integer: "fingerprint"],
                let commitTime = element[time: "commitTime"]
            else { return nil }
            var results: [WriteResult]?
            if let json = element["results"] {
                guard let known = CommitReceipt.results(json) else { return nil }
                results = known
            }
            receipts.restore(
                number: UInt64(number),
                fingerprint: UInt64(bitPattern: fingerprint),
                CommitResult(
                    sequence: element[integer: "sequence"].map { SequenceNumber(UInt64(clamping: $0)) },
                    commitTime: commitTime,
                    writeResults: results ?? [],
                    hasDroppedResults: results == nil
                )
            )
        }
        return (client, receipts)
    }
}
