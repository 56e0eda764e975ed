internal import DocumentModel
internal import FirestoreGRPC
internal import FirestoreProto
internal import SwiftProtobuf
internal import UTF8Text

extension FuzzedInput {
    /// Reads a form whole and byte by byte, and decodes its messages.
    func checkWebChannelForm(_ bytes: [UInt8]) -> String? {
        let items = Self.items([bytes])
        guard items == Self.items(bytes.map { [$0] }) else { return "the form depends on where its parts begin" }
        for case .message(let json?, _) in items ?? [] {
            _ = try? ProtoListenRequest(webChannelJSON: json)
            guard let request = try? ProtoWriteRequest(webChannelJSON: json) else { continue }
            guard let message: [UInt8] = try? request.serializedBytes(),
                (try? ProtoWriteRequest(serializedBytes: message)) != nil
            else { return "the request cannot be encoded" }
        }
        return nil
    }

    /// Returns the items of a form that arrives in parts; `nil` if it is rejected.
    private static func items(_ parts: [[UInt8]]) -> [WebChannelFormReader.Item]? {
        var reader = WebChannelFormReader(maximumMessageBytes: 1 << 20)
        var items: [WebChannelFormReader.Item] = []
        do throws(StatusError) {
            for part in parts {
                reader.append(part)
                while let item = try reader.next() { items.append(item) }
            }
            if let item = try reader.finish() { items.append(item) }
            return items
        } catch {
            return nil
        }
    }

    static let webChannelForms = [
        [
            "headers=Authorization%3ABearer+T%0D%0A", "count=2", "ofs=0",
            "req0___data__="
                + escaped(
                    #"{"database":"projects/p/databases/d","addTarget":{"query":{"structuredQuery":{"from":[{"collectionId":"c"}],"#
                        + #""limit":{"value":5}},"parent":"projects/p/databases/d/documents"},"targetId":2,"expectedCount":1}}"#
                ),
            "req1_type=_badmap",
        ],
        [
            "count=1", "ofs=7",
            "req0___data__="
                + escaped(
                    #"{"streamToken":"AAE=","writes":[{"update":{"name":"projects/p/databases/d/documents/c/a","fields":"#
                        + #"{"fields":{"mapValue":{"fields":{"😀":{"integerValue":"1"}}}},"b":{"bytesValue":"AQI="}}},"#
                        + #""updateTransforms":[{"fieldPath":"n","increment":{"doubleValue":"NaN"}}]}]}"#
                ),
        ],
    ].map { Array($0.joined(separator: "&").utf8) }

    private static func escaped(_ json: String) -> String {
        PercentEncoding.encode(UTF8Key(json))
    }
}
