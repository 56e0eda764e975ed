import JSONRPC
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("OpenRPC document")
struct OpenRPCTests {
    let document: JSONNode
    let methods: [JSONNode]

    init() throws {
        document = try JSONText(testTable.openRPCDocument).root
        methods = Array(try #require(document["methods"]?.elements))
    }

    @Test
    func `rpc.discover returns the document`() async throws {
        let reply = await RPCTestServer().reply(to: #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)
        #expect(reply == UTF8Key(#"{"jsonrpc":"2.0","id":1,"result":\#(document.text)}"#))
    }

    @Test
    func `The document has version, metadata and servers`() {
        #expect(document["openrpc"]?.string == "1.3.2")
        #expect(document["info"]?.text == #"{"title":"Test","version":"1.0","description":"Methods for tests."}"#)
        #expect(document["servers"]?.text == #"[{"name":"here","url":"http://127.0.0.1:8080/rpc"}]"#)
    }

    @Test
    func `All methods of the table are described and callable`() async throws {
        let names = try methods.map { try #require($0["name"]?.string) }
        #expect(names.map { UTF8Key($0) } == testTable.methods.map(\.name))
        #expect(Set(names).count == names.count)
        let server = RPCTestServer(clock: InstantClock())
        for name in names {
            let response = try await server.response(to: #"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)
            #expect(response.errorCode != -32601, "\(name)")
        }
    }

    @Test
    func `The description of a method matches its declaration`() throws {
        let subtract = try #require(methods.first { $0["name"]?.text == #""subtract""# })
        let expected =
            #"{"name":"subtract","summary":"Subtract two numbers.","x-right":"use","paramStructure":"either","params":["#
            + #"{"name":"minuend","description":"The number to subtract from.","required":true,"schema":{"type":"integer"}},"#
            + #"{"name":"subtrahend","description":"The number to subtract; 1 when absent.","required":false,"schema":{"type":"integer"}}],"#
            + #""result":{"name":"difference","description":"The difference.","required":true,"schema":{"type":"integer"}},"#
            + #""errors":[{"code":11,"message":"The difference does not fit into 64 bits."}],"examples":["#
            + #"{"name":"Both","params":[{"name":"minuend","value":42},{"name":"subtrahend","value":23}],"result":{"name":"result","value":19}},"#
            + #"{"name":"One less","params":[{"name":"minuend","value":42}],"result":{"name":"result","value":41}}]}"#
        #expect(subtract.text == UTF8Key(expected))
    }

    @Test
    func `Object parameters are written once as components and may be recursive`() {
        let expected =
            #"{"schemas":{"Filter":{"type":"object","properties":{"#
            + #""op":{"type":"string","enum":["==","<"],"description":"The comparison."},"#
            + #""tags":{"type":"array","items":{"type":"string"},"description":"Any of these tags."},"#
            + ##""and":{"type":"array","items":{"$ref":"#/components/schemas/Filter"},"description":"All of these."}},"##
            + #""additionalProperties":false}}}"#
        #expect(document["components"]?.text == UTF8Key(expected))
    }

    @Test
    func `A result has its declared schema`() throws {
        let find = try #require(methods.first { $0["name"]?.text == #""test.find""# })
        let expected =
            #"{"type":"object","properties":{"#
            + #""found":{"type":"array","items":{"type":"object","additionalProperties":{}},"description":"The results."},"#
            + ##""filter":{"allOf":[{"$ref":"#/components/schemas/Filter"}],"description":"The first filter."},"##
            + #""time":{"oneOf":[{"type":"string","format":"date-time","pattern":"Z$"},"#
            + #"{"type":"integer","minimum":0,"maximum":9},{"type":"boolean"}],"description":"A time."}},"#
            + #""required":["found"],"additionalProperties":false}"#
        #expect(find["result"]?["schema"]?.text == UTF8Key(expected))
    }

    @Test
    func `Every reference resolves within the document`() throws {
        var pending = [document]
        var count = 0
        while let node = pending.popLast() {
            pending += node.elements.map { Array($0) } ?? []
            pending += node.members.map { $0.map(\.value) } ?? []
            guard let reference = node["$ref"]?.string else { continue }
            let path = reference.split(separator: "/")
            let target = path.dropFirst().reduce(Optional(document)) { $0?[UTF8Key($1)] }
            #expect(path.first == "#" && target != nil, "\(reference)")
            count += 1
        }
        #expect(count > 0)
    }

    @Test
    func `Required parameters come first and error codes are unique`() throws {
        for method in methods {
            let required = try #require(method["params"]?.elements).map { $0["required"]?.boolean == true }
            #expect(required == required.filter { $0 } + required.filter { !$0 })
            let codes = try #require(method["errors"]?.elements).map { $0["code"]?.text }
            #expect(Set(codes).count == codes.count)
        }
    }

    @Test
    func `Each example returns its documented result, with named and positional parameters`() async throws {
        let server = RPCTestServer()
        var count = 0
        for method in methods {
            for example in try #require(method["examples"]?.elements) {
                let params = Array(try #require(example["params"]?.elements))
                let names = params.map { "\($0["name"]?.text ?? ""):\($0["value"]?.text ?? "")" }.joined(separator: ",")
                let positions = params.map { "\($0["value"]?.text ?? "")" }.joined(separator: ",")
                for text in ["{\(names)}", "[\(positions)]"] {
                    let name = try #require(method["name"]?.text)
                    let response = try await server.response(to: #"{"jsonrpc":"2.0","method":\#(name),"params":\#(text),"id":1}"#)
                    #expect(response["result"]?.text == example["result"]?["value"]?.text)
                }
                count += 1
            }
        }
        #expect(count == testTable.methods.map(\.examples.count).reduce(0, +))
    }
}
