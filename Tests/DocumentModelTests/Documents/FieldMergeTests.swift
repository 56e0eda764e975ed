import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Merges of fields")
struct FieldMergeTests {
    private let base: MapValue = ["a": .integer(1), "b": .integer(2), "m": .map(["x": .integer(1), "y": .integer(2)])]

    private func changed(_ changes: KeyValuePairs<String, Value?>) throws -> MapValue {
        var fields = base
        for (path, value) in changes {
            let path = try FieldPath(path)
            if let value { fields.set(value, at: path) } else { fields.remove(at: path) }
        }
        return fields
    }

    @Test
    func `Changes of different fields are merged, inside maps too`() throws {
        let ours = try changed(["a": .integer(10), "m.x": nil, "new": .string("ours")])
        let theirs = try changed(["b": nil, "m.y": .integer(20), "m.z": .integer(3)])
        let merge = FieldMerge(ours, theirs, since: base)
        #expect(merge.conflicts.isEmpty)
        #expect(
            merge.fields == [
                "a": .integer(10), "m": .map(["y": .integer(20), "z": .integer(3)]), "new": .string("ours"),
            ]
        )
    }

    @Test
    func `The same change of both versions is no conflict, and a field that both have changed keeps the first value`() throws {
        let ours = try changed(["a": .integer(5), "b": .integer(7), "m.x": .string("ours")])
        let theirs = try changed(["a": .integer(5), "b": nil, "m": .integer(0)])
        let merge = FieldMerge(ours, theirs, since: base)
        #expect(merge.conflicts == [try FieldPath("b"), try FieldPath("m")])
        #expect(merge.fields == ours)
    }

    @Test
    func `A map that both versions have added has the fields of both`() throws {
        let ours = try changed(["n": .map(["p": .integer(1), "q": .integer(1)])])
        let theirs = try changed(["n": .map(["q": .integer(2), "r": .integer(2)])])
        let merge = FieldMerge(ours, theirs, since: base)
        #expect(merge.conflicts == [try FieldPath("n.q")])
        #expect(merge.fields["n"] == .map(["p": .integer(1), "q": .integer(1), "r": .integer(2)]))
    }

    @Test
    func `A merge with an unchanged version is the other one, and is the same from both sides without conflicts`() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let (base, ours, theirs) = (fields(&random), fields(&random), fields(&random))
            #expect(FieldMerge(ours, base, since: base).fields == ours)
            #expect(FieldMerge(base, theirs, since: base).fields == theirs)
            let (merge, mirrored) = (FieldMerge(ours, theirs, since: base), FieldMerge(theirs, ours, since: base))
            #expect(merge.conflicts == mirrored.conflicts)
            if merge.conflicts.isEmpty { #expect(merge.fields == mirrored.fields) }
        }
    }

    private func fields(_ random: inout SeededGenerator, depth: Int = 0) -> MapValue {
        var fields = MapValue()
        for name in ["a", "b", "c"] where Bool.random(using: &random) {
            let isMap = depth < 2 && Bool.random(using: &random)
            let value = Value.integer(.random(in: 0...1, using: &random))
            fields[UTF8Key(name)] = isMap ? .map(self.fields(&random, depth: depth + 1)) : value
        }
        return fields
    }
}
