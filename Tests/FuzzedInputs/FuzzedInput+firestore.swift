internal import DocumentModel
internal import FirestoreREST
internal import HearthAPI
internal import StrictJSON
internal import UTF8Text

extension FuzzedInput {
    /// Executes a Firestore REST request and checks its response.
    func checkFirestoreRequest(_ bytes: [UInt8]) async -> String? {
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 1).map { Array($0) }
        guard words.count == 2, let method = Self.methods[UTF8Key(String(decoding: words[0], as: UTF8.self))] else { return nil }
        let path = words[1].prefix { $0 != UInt8(ascii: "?") }
        let parameters = words[1].dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return (
                name: UTF8Key(String(decoding: name, as: UTF8.self)),
                value: UTF8Key(String(decoding: item.dropFirst(name.count + 1), as: UTF8.self))
            )
        }
        do throws(StatusError) {
            let call = try FirestoreCall(method, path: path, parameters: parameters)
            let response = try await call.respond(
                to: Array(bytes.dropFirst(line.count + 1)),
                in: ServiceContext(store: ReadOnlyEmptyStore())
            )
            return try Self.check(response)
        } catch {
            return error.code == .internal ? "failed: \(error)" : nil
        }
    }

    private static func check(_ response: FirestoreResponse) throws(StatusError) -> String? {
        var messages: [[UInt8]] = []
        switch response.content {
        case .message(let json): messages = [json]
        case .stream(let stream): for index in 0..<stream.count { messages.append(try stream.message(index)) }
        }
        let areObjects = messages.allSatisfy { (try? JSONText($0))?.root.kind == .object }
        return areObjects ? nil : "a message of the response is not an object"
    }

    private static let methods: [UTF8Key: FirestoreCall.HTTPMethod] = [
        "GET": .get, "POST": .post, "PATCH": .patch, "DELETE": .delete,
    ]

    static let firestoreRequests = [
        "GET /v1/ROOT/books/hitchhiker?mask.fieldPaths=a&readTime=2024-02-29T12:00:00Z",
        "GET /v1/ROOT/books?orderBy=a%20desc,`b.c`&pageSize=2&pageToken=AlsxMix7IiRyZWZlcmVuY2UiOiJib29rcy9hIn1d&recursive=true",
        "GET /v1/ROOT?showMissing=true&pageToken=AWJvb2tzL2E",
        #"POST /v1/ROOT/books?documentId=x"# + "\n"
            + #"{"fields":{"a":{"integerValue":"1"},"b":{"arrayValue":{"values":[{"doubleValue":"NaN"}]}}}}"#,
        #"PATCH /v1/ROOT/books/x?updateMask.fieldPaths=a&currentDocument.exists=true"# + "\n"
            + #"{"fields":{"a":{"mapValue":{"fields":{"b":{"timestampValue":"2024-02-29T12:00:00Z"},"c":{"nullValue":0}}}}}}"#,
        "DELETE /v1/ROOT/books/x?currentDocument.updateTime=2024-02-29T12:00:00Z",
        "POST /v1/ROOT:batchGet\n" + #"{"documents":["ROOT/a/b"],"mask":{"field_paths":["c"]},"newTransaction":{"readOnly":{}}}"#,
        "POST /v1/ROOT:commit\n"
            + #"{"writes":[{"update":{"name":"ROOT/a/b","fields":{"v":{"bytesValue":"-_8"}}},"updateMask":{"fieldPaths":["v"]},"#
            + #""updateTransforms":[{"fieldPath":"n","increment":{"doubleValue":1}},{"fieldPath":"t","setToServerValue":1}]},"#
            + #"{"delete":"ROOT/a/c","currentDocument":{"exists":true}}],"transaction":"bm9uZQ=="}"#,
        "POST /v1/ROOT:batchWrite\n"
            + #"{"writes":[{"transform":{"document":"ROOT/a/b","fieldTransforms":[]}}],"labels":{"a":"b"}}"#,
        "POST /v1/ROOT/a/b:runQuery\n"
            + #"{"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}],"where":{"compositeFilter":{"op":"OR","filters":"#
            + #"[{"fieldFilter":{"field":{"fieldPath":"a"},"op":"IN","value":{"arrayValue":{"values":[{"geoPointValue":{}}]}}}},"#
            + #"{"unaryFilter":{"op":2,"field":{"fieldPath":"b"}}}]}},"orderBy":[{"field":{"fieldPath":"__name__"},"direction":2}],"#
            + #""startAt":{"values":[{"referenceValue":"ROOT/a/b/c/d"}],"before":true},"limit":"5","offset":1,"select":{"fields":[]}}}"#,
        "POST /v1/ROOT:runAggregationQuery\n"
            + #"{"structuredAggregationQuery":{"structuredQuery":{"from":[{"allDescendants":true}]},"aggregations":"#
            + #"[{"alias":"a","count":{"upTo":"9"}},{"sum":{"field":{"fieldPath":"n"}}}]},"readTime":"2024-02-29T12:00:00Z"}"#,
        "POST /v1/ROOT:runQuery\n"
            + #"{"structuredQuery":{"from":[{"collectionId":"c"}],"findNearest":{"vectorField":{"fieldPath":"v"},"limit":3,"#
            + #""distanceMeasure":"COSINE","queryVector":{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":"#
            + #"{"arrayValue":{"values":[{"doubleValue":0.5}]}}}}}}}}"#,
        "POST /v1/ROOT:partitionQuery\n"
            + #"{"structuredQuery":{"from":[{"collectionId":"c","allDescendants":true}]},"partitionCount":"3"}"#,
        "POST /v1/ROOT:listCollectionIds\n" + #"{"pageSize":1,"pageToken":"AWE"}"#,
        "POST /v1/ROOT:beginTransaction\n" + #"{"options":{"readWrite":{"retryTransaction":"AAA="}}}"#,
        "POST /v1/ROOT:rollback\n" + #"{"transaction":"AAA"}"#,
    ].map { Array($0.replacing("ROOT", with: "projects/p/databases/(default)/documents").utf8) }
}
