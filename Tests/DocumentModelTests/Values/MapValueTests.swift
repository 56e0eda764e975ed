import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Map values")
struct MapValueTests {
    @Test
    func `Names are sorted by bytes`() {
        let names: [UTF8Key] = ["🐵", "b", "a", "Ｐ", "", "aa", "\u{e9}", "e\u{301}"]
        let map = MapValue(names.map { (key: $0, value: .string($0.string)) })
        #expect(map.keys == ["", "a", "aa", "b", "e\u{301}", "\u{e9}", "Ｐ", "🐵"])
        #expect(map.count == names.count)
        #expect(map.map(\.key) == map.keys)
        #expect(names.allSatisfy { map[$0] == .string($0.string) })
    }

    @Test
    func `The last of two members with the same name wins`() {
        let members: [(key: UTF8Key, value: Value)] = [("b", .integer(1)), ("a", .null), ("b", .integer(2)), ("b", .integer(3))]
        #expect(MapValue(members) == ["a": .null, "b": .integer(3)])
        #expect(MapValue(dictionaryLiteral: ("a", .integer(1)), ("a", .integer(2))) == ["a": .integer(2)])
    }

    @Test
    func `Names that differ in normalization are different`() {
        var map: MapValue = ["\u{e9}": .integer(1), "e\u{301}": .integer(2)]
        #expect(map.count == 2)
        map["\u{e9}"] = nil
        #expect(map == ["e\u{301}": .integer(2)])
    }

    @Test
    func `Members are set, replaced and removed`() {
        var map = MapValue()
        #expect(map.isEmpty)
        map["b"] = .integer(1)
        map["a"] = .integer(2)
        map["b"] = .integer(3)
        map["c"] = nil
        #expect(map == ["a": .integer(2), "b": .integer(3)])
        map["a"] = nil
        #expect(map.keys == ["b"])
        #expect(map["a"] == nil)
    }

    @Test
    func `Random changes agree with a dictionary`() {
        var random = RandomValues(generator: SeededGenerator())
        var map = MapValue()
        var list: [(key: UTF8Key, value: Value)] = []
        for _ in 0..<500 {
            let name = UTF8Key(random.text())
            let value: Value? = random.pick([random.value(depth: 0), nil])
            map[name] = value
            list.removeAll { $0.key == name }
            if let value { list.append((name, value)) }
            #expect(map.keys == list.map(\.key).sorted(), "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            #expect(map == MapValue(list.shuffled(using: &random.generator)))
        }
    }
}

@Suite("Field paths in map values")
struct MapValueFieldPathTests {
    private let map: MapValue = [
        "a": .map(["b": .map(["c": .integer(1)]), "b.c": .integer(2)]),
        "list": .array([.map(["x": .integer(3)])]),
        "plain": .string("text"),
    ]

    @Test(
        arguments: [
            ("a.b.c", Value.integer(1)),
            ("a.`b.c`", .integer(2)),
            ("a.b", .map(["c": .integer(1)])),
            ("a.b.c.d", nil),
            ("a.x", nil),
            ("x.y", nil),
            ("plain.x", nil),
            ("list.x", nil),
            ("list.`0`", nil),
        ]
    )
    func `A lookup traverses only maps`(path: String, expected: Value?) throws {
        #expect(map[try FieldPath(path)] == expected)
    }

    @Test(
        arguments: [
            ("a", ["a": .integer(9)]),
            ("a.b", ["a": .map(["b": .integer(9), "x": .null])]),
            ("a.c.d", ["a": .map(["b": .map([:]), "c": .map(["d": .integer(9)]), "x": .null])]),
            ("a.x.y", ["a": .map(["b": .map([:]), "x": .map(["y": .integer(9)])])]),
            ("z.y.x", ["a": .map(["b": .map([:]), "x": .null]), "z": .map(["y": .map(["x": .integer(9)])])]),
        ] as [(String, MapValue)]
    )
    func `Setting a value creates missing parent maps`(path: String, expected: MapValue) throws {
        let original: MapValue = ["a": .map(["b": .map([:]), "x": .null])]
        var changed = original
        changed.set(.integer(9), at: try FieldPath(path))
        #expect(changed == expected)
        #expect(original == ["a": .map(["b": .map([:]), "x": .null])])
    }

    @Test(
        arguments: [
            ("a.b.c", ["a": .map(["b": .map([:])]), "x": .string("text")]),
            ("a.b", ["a": .map([:]), "x": .string("text")]),
            ("a", ["x": .string("text")]),
            ("x.y", ["a": .map(["b": .map(["c": .null])]), "x": .string("text")]),
            ("a.y.z", ["a": .map(["b": .map(["c": .null])]), "x": .string("text")]),
            ("y", ["a": .map(["b": .map(["c": .null])]), "x": .string("text")]),
        ] as [(String, MapValue)]
    )
    func `Removing a value keeps its parent maps`(path: String, expected: MapValue) throws {
        var map: MapValue = ["a": .map(["b": .map(["c": .null])]), "x": .string("text")]
        map.remove(at: try FieldPath(path))
        #expect(map == expected)
    }
}
