import DocumentModel
import FirestoreProto
import SwiftProtobuf
import Testing

@testable import FirestoreGRPC

@Suite("WebChannel messages")
struct WebChannelJSONTests {
    @Test(arguments: [#"{"value":5}"#, "5", #""5""#])
    func `Numbers of old clients are objects`(number: String) throws {
        let json =
            #"{"database":"d","addTarget":{"targetId":2,"expectedCount":\#(number),"once":false,"#
            + #""query":{"parent":"p","structuredQuery":{"limit":\#(number),"from":[{"collectionId":"limit"}]}}}}"#
        let request = try ProtoListenRequest(webChannelJSON: Array(json.utf8))
        #expect(request.addTarget.expectedCount.value == 5)
        #expect(request.addTarget.query.structuredQuery.limit.value == 5)
        #expect(request.addTarget.targetID == 2)
    }

    @Test
    func `Unknown fields are ignored`() throws {
        let json = #"{"addTarget":{"targetId":3,"pipelineQuery":{"structuredPipeline":{}}},"labels":{"update":"x"}}"#
        let request = try ProtoListenRequest(webChannelJSON: Array(json.utf8))
        #expect(request.addTarget.targetID == 3)
        #expect(request.addTarget.targetType == nil)
        #expect(request.labels == ["update": "x"])
    }

    @Test(arguments: ["", "{", "[]", #"{"database":1}"#, #"{"addTarget":{"targetId":"x"}}"#, "{\"database\":\"\u{0}\"}"])
    func `Other JSON is rejected`(json: String) {
        #expect { try ProtoListenRequest(webChannelJSON: Array(json.utf8)) } throws: {
            ($0 as? StatusError)?.code == .invalidArgument
        }
    }

    @Test
    func `Fields of documents are objects at any depth`() throws {
        var value = #"{"integerValue":"1"}"#
        for _ in 0..<20 { value = #"{"mapValue":{"fields":{"fields":\#(value)}}}"# }
        let json = #"{"writes":[{"update":{"name":"n","fields":{"mapValue":\#(value)}}}]}"#
        let request = try ProtoWriteRequest(webChannelJSON: Array(json.utf8))
        var current = try #require(request.writes.first?.update.fields.first)
        #expect(current.key == "mapValue")
        for _ in 0..<20 {
            current = try #require(current.value.mapValue.fields.first)
            #expect(current.key == "fields")
        }
        #expect(current.value.integerValue == 1)
    }

    @Test
    func `Escaped strings are the same as plain ones`() throws {
        let escaped = #"\ud840\udc00 \ud83d\ude00 \udbff\udfff \u0000\u00e9\/\t\"\\"#
        let json =
            #"{"writes":[{"update":{"name":"\#(escaped)","fields":{"\#(escaped)":{"stringValue":"\#(escaped)"}}},"#
            + #""updateMask":{"fieldPaths":["\ud840\udc00"]}}]}"#
        let write = try ProtoWriteRequest(webChannelJSON: Array(json.utf8)).writes[0]
        let text = "\u{20000} \u{1F600} \u{10FFFF} \u{0}\u{E9}/\t\"\\"
        #expect(write.update.name == text)
        #expect(write.update.fields[0].key == text)
        #expect(write.update.fields[0].value.stringValue == text)
        #expect(write.updateMask.fieldPaths == ["\u{20000}"])
    }

    @Test
    func `All values survive both directions`() throws {
        let fields =
            #"{"n":{"nullValue":null},"b":{"booleanValue":true},"i":{"integerValue":"-9007199254740993"},"#
            + #""d":{"doubleValue":0.5},"z":{"doubleValue":"NaN"},"y":{"doubleValue":"-Infinity"},"#
            + #""t":{"timestampValue":"2024-02-29T12:00:00.000001Z"},"s":{"stringValue":"\"é😀\n"},"x":{"bytesValue":"AQI="},"#
            + #""r":{"referenceValue":"projects/p/databases/d/documents/c/a"},"#
            + #""g":{"geoPointValue":{"latitude":53.5,"longitude":-9.75}},"#
            + #""a":{"arrayValue":{"values":[{"mapValue":{"fields":{"k":{"arrayValue":{}}}}},{"mapValue":{}}]}}}"#
        let json = #"{"writes":[{"update":{"name":"n","fields":\#(fields)}}]}"#
        let document = try ProtoWriteRequest(webChannelJSON: Array(json.utf8)).writes[0].update
        let response = ProtoListenResponse.make { $0.documentChange.document = document }
        let text = try String(decoding: response.webChannelArray, as: UTF8.self)
        #expect(text == #"[{"documentChange":{"document":{"name":"n","fields":\#(fields)}}}]"#)
    }

    @Test
    func `Responses are in the JSON form of Protocol Buffers`() throws {
        let time = Google_Protobuf_Timestamp(seconds: 1, nanos: 2_000)
        let responses: [(any WebChannelResponse, String)] = [
            (
                ProtoListenResponse.make {
                    $0.targetChange.targetChangeType = .remove
                    $0.targetChange.targetIds = [2, 3]
                    $0.targetChange.cause.code = 7
                    $0.targetChange.cause.message = "No."
                },
                #"[{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2,3],"cause":{"code":7,"message":"No."}}}]"#
            ),
            (
                ProtoListenResponse.make {
                    $0.documentDelete.document = "a"
                    $0.documentDelete.removedTargetIds = [2]
                    $0.documentDelete.readTime = time
                },
                #"[{"documentDelete":{"document":"a","removedTargetIds":[2],"readTime":"1970-01-01T00:00:01.000002Z"}}]"#
            ),
            (
                ProtoListenResponse.make {
                    $0.documentRemove.document = "a"
                    $0.documentRemove.removedTargetIds = [2]
                },
                #"[{"documentRemove":{"document":"a","removedTargetIds":[2]}}]"#
            ),
            (
                ProtoListenResponse.make {
                    $0.filter.targetID = 2
                    $0.filter.count = 0
                    $0.filter.unchangedNames.bits.bitmap = .init([1])
                    $0.filter.unchangedNames.bits.padding = 3
                    $0.filter.unchangedNames.hashCount = 7
                },
                #"[{"filter":{"targetId":2,"count":0,"unchangedNames":{"bits":{"bitmap":"AQ==","padding":3},"hashCount":7}}}]"#
            ),
            (ProtoListenResponse(), "[{}]"),
            (
                ProtoWriteResponse.make {
                    $0.streamID = "s"
                    $0.streamToken = .init([1])
                    $0.writeResults = [
                        .make { $0.updateTime = time }, .make { $0.transformResults = [1, .make { $0.nullValue = .nullValue }] },
                    ]
                    $0.commitTime = time
                },
                #"[{"streamId":"s","streamToken":"AQ==","writeResults":[{"updateTime":"1970-01-01T00:00:01.000002Z"},"#
                    + #"{"transformResults":[{"integerValue":"1"},{"nullValue":null}]}],"#
                    + #""commitTime":"1970-01-01T00:00:01.000002Z"}]"#
            ),
        ]
        for (response, json) in responses {
            #expect(try String(decoding: response.webChannelArray, as: UTF8.self) == json)
        }
    }
}
