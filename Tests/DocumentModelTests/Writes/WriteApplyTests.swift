import DocumentModel
import StrictJSON
import TestSupport
import Testing

@Suite("Applying a write")
struct WriteApplyTests {
    private typealias Fixture = WriteFixtures

    @Test("A new document has the commit time as both its times")
    func creates() throws {
        let (document, result, isChange) = try Write.set(Fixture.path, ["a": .null]).applied(to: nil, at: Fixture.now)
        #expect(document == Document(path: Fixture.path, fields: ["a": .null], createTime: Fixture.now, updateTime: Fixture.now))
        #expect(result == WriteResult(updateTime: Fixture.now))
        #expect(isChange)
    }

    @Test("Overwriting keeps the create time")
    func overwrites() throws {
        let current = try Fixture.document(#"{"a":1}"#)
        let (document, result, isChange) = try Write.set(Fixture.path, ["a": .null]).applied(to: current, at: Fixture.now)
        #expect(
            document == Document(path: Fixture.path, fields: ["a": .null], createTime: Fixture.created, updateTime: Fixture.now)
        )
        #expect(result.updateTime == Fixture.now)
        #expect(isChange)
    }

    @Test("A delete leaves no document and has no update time")
    func deletes() throws {
        let existing = try Write.delete(Fixture.path).applied(to: Fixture.document("{}"), at: Fixture.now)
        #expect(existing.document == nil)
        #expect(existing.result == WriteResult(updateTime: nil))
        #expect(existing.isChange)
        let missing = try Write.delete(Fixture.path).applied(to: nil, at: Fixture.now)
        #expect(missing.document == nil)
        #expect(!missing.isChange)
    }

    @Test(
        "A write that leaves the fields as they are is no change and keeps the update time",
        arguments: [
            .replace(["a": .integer(1), "b": .map(["c": .double(.nan)])]),
            .patch([:], mask: []),
            .patch(["a": .integer(1)], mask: [try! FieldPath("a"), try! FieldPath("missing.too")]),  // Proof: literals.
        ] as [Write.Operation]
    )
    func unchanged(operation: Write.Operation) throws {
        let current = try Fixture.document(#"{"a":1,"b":{"c":{"$double":"NaN"}}}"#)
        let (document, result, isChange) = try Write(path: Fixture.path, operation: operation).applied(
            to: current,
            at: Fixture.now
        )
        #expect(document == current)
        #expect(result.updateTime == Fixture.updated)
        #expect(!isChange)
    }

    @Test(
        "What is equal but not stored alike is a change",
        arguments: [("1", "1.0"), ("0.0", "-0.0"), ("\"é\"", "\"e\u{301}\""), ("[0]", "[0.0]"), ("null", "{}")]
    )
    func storedAlike(before: String, after: String) throws {
        let write = try Write.set(Fixture.path, Fixture.fields("{\"a\":\(after)}"))
        #expect(try write.applied(to: Fixture.document("{\"a\":\(before)}"), at: Fixture.now).isChange)
    }

    @Test("Without a document a patch starts from nothing, and an empty mask makes an empty document")
    func patchesNothing() throws {
        let empty = try Write(path: Fixture.path, operation: .patch(["a": .null], mask: [])).applied(to: nil, at: Fixture.now)
        #expect(empty.document?.fields == [:])
        #expect(empty.isChange)
        let write = Write(path: Fixture.path, operation: .patch(["a": .null], mask: try Fixture.paths(["a", "b.c"])))
        #expect(try write.fields(of: nil) == #"{"a":null}"#)
    }

    @Test(
        "The order of a mask doesn't matter, nor do repetitions and fields inside others",
        arguments: [
            (["owner.name", "owner", "owner.name"], #"{"owner":{"mail":1}}"#),
            (["owner", "owner.name"], #"{"owner":{"mail":1}}"#),
            (["owner.mail"], #"{"owner":{"age":0,"mail":1,"name":0}}"#),
            (["owner.mail", "owner.name"], #"{"owner":{"age":0,"mail":1}}"#),
            (["gone", "owner.x.y"], #"{"owner":{"age":0,"name":0}}"#),
            (["z", "owner", "a"], #"{"a":1,"owner":{"mail":1},"z":1}"#),
        ]
    )
    func mask(mask: [String], after: String) throws {
        let data = try Fixture.fields(#"{"owner":{"mail":1},"a":1,"z":1}"#)
        for mask in [mask, mask.reversed()] {
            let write = Write(path: Fixture.path, operation: .patch(data, mask: try Fixture.paths(mask)))
            #expect(try write.fields(of: #"{"owner":{"name":0,"age":0}}"#) == after)
        }
    }

    @Test("A patch gives what setting and removing field by field would")
    func patchAgreesWithSingleSteps() throws {
        var generator = SeededGenerator()
        func name() -> String { ["a", "b", "c"].randomElement(using: &generator) ?? "a" }
        func value(_ depth: Int) -> Value {
            guard depth > 0, Int.random(in: 0..<3, using: &generator) > 0 else {
                return .integer(Int64.random(in: 0...9, using: &generator))
            }
            return .map(MapValue((0..<Int.random(in: 0...3, using: &generator)).map { _ in (UTF8Key(name()), value(depth - 1)) }))
        }
        func fields() -> MapValue { if case .map(let map) = value(3) { map } else { [:] } }
        for _ in 0..<300 {
            let (before, data) = (fields(), fields())
            let mask = try (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                try FieldPath((0..<Int.random(in: 1...3, using: &generator)).map { _ in name() }.joined(separator: "."))
            }
            var expected = before
            // A field that covers others decides, so it comes last.
            for path in mask.sorted().reversed() {
                if let value = data[path] { expected.set(value, at: path) } else { expected.remove(at: path) }
            }
            let write = Write(path: Fixture.path, operation: .patch(data, mask: mask))
            let current = Document(path: Fixture.path, fields: before, createTime: Fixture.created, updateTime: Fixture.updated)
            let after = try write.applied(to: current, at: Fixture.now).document?.fields
            #expect(after == expected, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed) \(before.json) \(data.json) \(mask)")
        }
    }

    @Test("A mask of very many fields is applied in one pass")
    func manyFields() throws {
        let count = 60_000
        func fields(_ prefix: String) -> MapValue {
            MapValue((0..<count).map { (key: UTF8Key("\($0)\(prefix)"), value: Value.null) })
        }
        let mask = try (0..<count).map { try FieldPath(segments: [UTF8Key("\($0)b")]) }
        let write = Write(path: Fixture.path, operation: .patch(fields("b"), mask: mask.reversed()))
        let current = Document(path: Fixture.path, fields: fields("a"), createTime: Fixture.created, updateTime: Fixture.updated)
        #expect(try write.applied(to: current, at: Fixture.now).document?.fields.count == 2 * count)
    }

    @Test(
        "The result must be a legal document",
        arguments: [
            (#"{"__a__":1}"#, "__a__"),
            (#"{"a":[{"b":[[1]]}]}"#, "a[0].b[0]"),
            (#"{"a":{"":1}}"#, "a.``"),
        ]
    )
    func validates(json: String, field: String) throws {
        let write = try Write.set(Fixture.path, Fixture.fields(json))
        let error = try #require(throws: StatusError.self) { try write.applied(to: nil, at: Fixture.now) }
        #expect(error.code == .invalidArgument)
        #expect(error.path == "books/hitchhiker")
        #expect(error.field == field)
    }

    @Test("It is the result that is limited, not the write")
    func validatesResult() throws {
        let half = Value.string(String(repeating: "x", count: 600_000))
        let write = Write(path: Fixture.path, operation: .patch(["b": half], mask: try Fixture.paths(["b"])))
        _ = try write.applied(to: nil, at: Fixture.now)
        var current = try #require(try Fixture.document("{}"))
        current.fields["a"] = half
        let error = #expect(throws: StatusError.self) { try write.applied(to: current, at: Fixture.now) }
        #expect(error?.code == .invalidArgument)
    }
}
