import HearthService
import StrictJSON
import Testing

@testable import HearthServer

/// Values in the JSON mapping of Protocol Buffers.
@Suite(.timeLimit(.minutes(1))) struct FirestoreValueTests {
    @Test(
        "A value is read in every form that it may have, and written in one",
        arguments: [
            (#"{"nullValue":null}"#, #"{"nullValue":null}"#),
            (#"{"nullValue":0}"#, #"{"nullValue":null}"#),
            (#"{"nullValue":"NULL_VALUE"}"#, #"{"nullValue":null}"#),
            (#"{"boolean_value":true}"#, #"{"booleanValue":true}"#),
            (#"{"integerValue":"-9223372036854775808"}"#, #"{"integerValue":"-9223372036854775808"}"#),
            (#"{"integerValue":816}"#, #"{"integerValue":"816"}"#),
            (#"{"integerValue":8.16e2}"#, #"{"integerValue":"816"}"#),
            (#"{"doubleValue":3}"#, #"{"doubleValue":3.0}"#),
            (#"{"doubleValue":-0.0}"#, #"{"doubleValue":-0.0}"#),
            (#"{"doubleValue":"1.5e300"}"#, #"{"doubleValue":1.5e+300}"#),
            (#"{"doubleValue":100000000000000000000}"#, #"{"doubleValue":1e+20}"#),
            (#"{"doubleValue":"NaN"}"#, #"{"doubleValue":"NaN"}"#),
            (#"{"doubleValue":"-Infinity"}"#, #"{"doubleValue":"-Infinity"}"#),
            (#"{"timestampValue":"2014-09-09T10:00:47.1234567+02:00"}"#, #"{"timestampValue":"2014-09-09T08:00:47.123456Z"}"#),
            (#"{"stringValue":"é\u2028\"\\\u0000"}"#, "{\"stringValue\":\"é\u{2028}\\\"\\\\\\u0000\"}"),
            (#"{"bytesValue":"+/8="}"#, #"{"bytesValue":"+/8="}"#),
            (#"{"bytesValue":"-_8"}"#, #"{"bytesValue":"+/8="}"#),
            (#"{"bytesValue":""}"#, #"{"bytesValue":""}"#),
            (
                #"{"referenceValue":"projects/p/databases/(default)/documents/a/b"}"#,
                #"{"referenceValue":"projects/p/databases/(default)/documents/a/b"}"#
            ),
            (#"{"geoPointValue":{"latitude":53.5}}"#, #"{"geoPointValue":{"latitude":53.5,"longitude":0.0}}"#),
            (#"{"arrayValue":{}}"#, #"{"arrayValue":{}}"#),
            (#"{"arrayValue":{"values":[{"integerValue":1}]}}"#, #"{"arrayValue":{"values":[{"integerValue":"1"}]}}"#),
            (#"{"mapValue":{"fields":null}}"#, #"{"mapValue":{}}"#),
            (
                #"{"mapValue":{"fields":{"$timestamp":{"stringValue":"x"}}}}"#,
                #"{"mapValue":{"fields":{"$timestamp":{"stringValue":"x"}}}}"#
            ),
            (
                #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"integerValue":1}]}}}}}"#,
                #"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"},"value":{"arrayValue":{"values":[{"doubleValue":1.0}]}}}}}"#
            ),
        ]
    )
    func mapping(sent: String, received: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let made = try await connection.timeless("POST", "/c?documentId=d", #"{"fields":{"v":\#(sent)}}"#)
                #expect(made == #"{"name":"\#(firestoreName("c/d"))","fields":{"v":\#(received)}}"#)
                #expect(try await connection.timeless("GET", "/c/d") == made)
            }
        }
    }

    @Test("Fields of which the first begins with $ are those of the document")
    func dollarFields() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let fields = #"{"$map":{"booleanValue":true}}"#
                let made = try await connection.timeless("POST", "/c?documentId=d", #"{"fields":\#(fields)}"#)
                #expect(made == #"{"name":"\#(firestoreName("c/d"))","fields":\#(fields)}"#)
            }
        }
    }

    @Test(
        "What is no value is refused, with its place",
        arguments: [
            (#"{}"#, "field v"), (#"{"stringValue":"a","integerValue":1}"#, "field v"), (#""text""#, "field v"),
            (#"{"textValue":"a"}"#, "textValue"), (#"{"integerValue":"1.5"}"#, "64 bits"), (#"{"integerValue":"+5"}"#, "64 bits"),
            (#"{"integerValue":9223372036854775808}"#, "64 bits"), (#"{"doubleValue":"nan"}"#, "NaN"),
            (#"{"doubleValue":"0x1p3"}"#, "double"), (#"{"booleanValue":"true"}"#, "true or false"),
            (#"{"timestampValue":"yesterday"}"#, "RFC 3339"), (#"{"bytesValue":"***"}"#, "base64"),
            (#"{"referenceValue":"a/b"}"#, "name of a document"),
            (#"{"referenceValue":"projects/q/databases/(default)/documents/a/b"}"#, "of this database"),
            (#"{"geoPointValue":{"latitude":91}}"#, "latitude"),
            (#"{"arrayValue":{"values":[{"stringValue":7}]}}"#, "field v[0]"),
            (#"{"arrayValue":{"values":[{"arrayValue":{}}]}}"#, "directly"),
            (#"{"mapValue":{"fields":{"a.b":{"stringValue":7}}}}"#, "field v.`a.b`"),
            (#"{"mapValue":{"fields":{"__type__":{"stringValue":"__vector__"}}}}"#, "__vector__"),
            (#"{"mapValue":{"fields":{"__type__":{"stringValue":"other"}}}}"#, "reserved"),
        ]
    )
    func refusal(value: String, hint: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.firestore("POST", "/c", #"{"fields":{"v":\#(value)}}"#)
                #expect(response.status == 400)
                #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                #expect(response.body.contains(hint), "\(response.body)")
            }
        }
    }

    @Test("A value may be as deep as the model allows, and no deeper text is read")
    func depth() async throws {
        @Sendable func nested(_ levels: Int) -> String {
            String(repeating: #"{"mapValue":{"fields":{"m":"#, count: levels) + #"{"nullValue":null}"#
                + String(repeating: "}}}", count: levels)
        }
        try await withServer { server in
            try await withConnection(to: server) { connection in
                #expect(try await connection.firestore("POST", "/c", #"{"fields":{"v":\#(nested(20))}}"#).status == 200)
                for levels in [21, 200] {
                    let response = try await connection.firestore("POST", "/c", #"{"fields":{"v":\#(nested(levels))}}"#)
                    #expect(response.firestoreStatus == "INVALID_ARGUMENT")
                }
            }
        }
    }
}
