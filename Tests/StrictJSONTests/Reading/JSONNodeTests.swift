import StrictJSON
import Testing
import UTF8Text

@Suite("JSON nodes")
struct JSONNodeTests {
    @Test
    func `Accessors return nil for a value of another kind`() throws {
        let root = try JSONText(#"[null,true,1,"s",[2],{"k":3}]"#).root
        let nodes = try Array(#require(root.elements))
        #expect(nodes.map(\.kind) == [.null, .boolean, .number, .string, .array, .object])
        #expect(nodes.map(\.isNull) == [true, false, false, false, false, false])
        #expect(nodes.map(\.boolean) == [nil, true, nil, nil, nil, nil])
        #expect(nodes.map(\.number) == [nil, nil, .integer(1), nil, nil, nil])
        #expect(nodes.map(\.string) == [nil, nil, nil, "s", nil, nil])
        #expect(nodes.map(\.count) == [0, 0, 0, 0, 1, 1])
        #expect(nodes.map { $0.elements == nil } == [true, true, true, true, false, true])
        #expect(nodes.map { $0.members == nil } == [true, true, true, true, true, false])
        #expect(nodes.map { $0["k"] == nil } == [true, true, true, true, true, false])
    }

    @Test
    func `Elements and members are iterated in source order, skipping nested values`() throws {
        let root = try JSONText(#"{"b":[[1,{"x":[]}],2],"a":{"b":{}},"":[],"c":3}"#).root
        let members = try Array(#require(root.members))
        #expect(members.map(\.key) == ["b", "a", "", "c"])
        #expect(members.map(\.value.count) == [2, 1, 0, 0])
        #expect(root["b"]?.elements?.map(\.kind) == [.array, .number])
        #expect(root["c"]?.number == .integer(3))
    }

    @Test
    func `Members are looked up by their unescaped bytes`() throws {
        let root = try JSONText("{\"\\u0069d\":1,\"\u{e9}\":2,\"e\\u0301\":3,\"idx\":4}").root
        #expect(root["id"]?.number == .integer(1))
        #expect(root["\u{e9}"]?.number == .integer(2))
        #expect(root["e\u{301}"]?.number == .integer(3))
        #expect(root["i"] == nil)
        #expect(root["ID"] == nil)
        #expect(root[#"\u0069d"#] == nil)
    }

    @Test(
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"),
            (#""a\u0000b""#, "a\0b"),
            (#""\u0041\u00e9\u20AC""#, "A\u{e9}\u{20ac}"),
            (#""\ud800\udc00-\uDBFF\uDFFF-\uD83E\uDDA6""#, "\u{10000}-\u{10ffff}-\u{1f9a6}"),
            (#""\\u0041""#, #"\u0041"#),
            ("\"e\\u0301\u{e9}\u{2028}\"", "e\u{301}\u{e9}\u{2028}"),
            (#""a\r\nb""#, "a\r\nb"),
        ]
    )
    func `Strings are unescaped`(text: String, value: String) throws {
        let string = try #require(try JSONText(text).root.string)
        #expect(Array(string.utf8) == Array(value.utf8))
    }

    @Test
    func `Raw bytes are the source bytes, including inner white space`() throws {
        let root = try JSONText(#" { "id" : 1.50e+1 , "s":"\u0041" , "o": { "a" : [ ] } } "#).root
        func raw(_ node: JSONNode?) -> String? { node.map { String(decoding: $0.rawBytes, as: UTF8.self) } }
        #expect(raw(root["id"]) == "1.50e+1")
        #expect(raw(root["s"]) == #""\u0041""#)
        #expect(raw(root["o"]) == #"{ "a" : [ ] }"#)
        #expect(raw(root) == #"{ "id" : 1.50e+1 , "s":"\u0041" , "o": { "a" : [ ] } }"#)
    }

    @Test
    func `A node has an offset, a line and a column`() throws {
        let root = try JSONText("\n{\"\u{e9}\": \"\u{1f9a6}\", \"b\":\n\t[7]}").root
        let node = try #require(root["b"])
        #expect(root.offset == 1)
        #expect(node.offset == 22)
        #expect(node.position() == (3, 2))
        #expect(root["\u{e9}"].map { $0.position() == (2, 7) } == true)
    }

    @Test
    func `A node keeps its text alive`() throws {
        func lastElement() throws -> JSONNode? {
            try JSONText([UInt8]("[1,\"still here\"]".utf8)).root.elements?.reversed().first
        }
        #expect(try lastElement()?.string == "still here")
    }
}
