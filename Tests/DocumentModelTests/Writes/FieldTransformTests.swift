import DocumentModel
import Testing
import UTF8Text

/// A transform of the field `f`: its JSON before (`nil` if missing), the operation, and its JSON after.
struct TransformCase: CustomTestStringConvertible, Sendable {
    let before: String?
    let operation: FieldTransform.Operation
    let after: String

    init(_ before: String?, _ operation: FieldTransform.Operation, _ after: String) {
        self.before = before
        self.operation = operation
        self.after = after
    }

    var testDescription: String { "\(before ?? "nothing") to \(after)" }
}

private let nan = #"{"$double":"NaN"}"#

@Suite("Field transforms")
struct FieldTransformTests {
    private typealias Fixture = WriteFixtures

    private func applied(
        _ operations: [(String, FieldTransform.Operation)],
        to fields: String?
    ) throws -> (fields: String?, results: [Value]) {
        let write = Write(
            path: Fixture.path,
            operation: .patch([:], mask: []),
            transforms: try operations.map { FieldTransform(field: try FieldPath($0), operation: $1) }
        )
        let (document, result, _) = try write.applied(to: Fixture.document(fields), at: Fixture.now)
        return (document?.fields.json, result.transformResults)
    }

    static let numbers: [TransformCase] = [
        TransformCase(nil, .increment(.integer(2)), "2"),
        TransformCase("1", .increment(.integer(2)), "3"),
        TransformCase("1", .increment(.double(0.5)), "1.5"),
        TransformCase("1.5", .increment(.integer(2)), "3.5"),
        TransformCase("1.5", .increment(.double(-1.5)), "0.0"),
        TransformCase("\"0.0\"", .increment(.double(0.1)), "0.1"),
        TransformCase("null", .increment(.integer(1)), "1"),
        TransformCase("[1]", .increment(.integer(1)), "1"),
        TransformCase("9223372036854775807", .increment(.integer(1)), "9223372036854775807"),
        TransformCase("9223372036854775800", .increment(.integer(.max)), "9223372036854775807"),
        TransformCase("-9223372036854775808", .increment(.integer(-1)), "-9223372036854775808"),
        TransformCase("-5", .increment(.integer(.min)), "-9223372036854775808"),
        TransformCase("9223372036854775807", .increment(.double(1)), "9.223372036854775807e+18"),
        TransformCase(nan, .increment(.integer(1)), nan),
        TransformCase("1e308", .increment(.double(1e308)), #"{"$double":"Infinity"}"#),
        TransformCase(nil, .maximum(.integer(3)), "3"),
        TransformCase("\"a\"", .maximum(.double(3)), "3.0"),
        TransformCase("2", .maximum(.integer(3)), "3"),
        TransformCase("2", .maximum(.double(2.5)), "2.5"),
        TransformCase("3.5", .maximum(.integer(3)), "3.5"),
        TransformCase("3", .maximum(.double(3)), "3"),
        TransformCase("3.0", .maximum(.integer(3)), "3.0"),
        TransformCase("0", .maximum(.double(-0.0)), "0"),
        TransformCase("-0.0", .maximum(.integer(0)), "-0.0"),
        TransformCase("1", .maximum(.double(.nan)), nan),
        TransformCase(nan, .maximum(.integer(1)), nan),
        TransformCase(nil, .maximum(.double(.nan)), nan),
        TransformCase("9007199254740993", .maximum(.double(9_007_199_254_740_992)), "9007199254740993"),
        TransformCase(nil, .minimum(.integer(3)), "3"),
        TransformCase("{}", .minimum(.integer(3)), "3"),
        TransformCase("2", .minimum(.integer(3)), "2"),
        TransformCase("3.5", .minimum(.integer(3)), "3"),
        TransformCase("3", .minimum(.double(2.5)), "2.5"),
        TransformCase("3", .minimum(.double(3)), "3"),
        TransformCase("0.0", .minimum(.double(-0.0)), "0.0"),
        TransformCase("1", .minimum(.double(.nan)), nan),
        TransformCase(nan, .minimum(.integer(1)), nan),
    ]

    @Test(arguments: numbers)
    func `Numeric transforms use the field's number, or the operand if it has none`(transform: TransformCase) throws {
        let fields = transform.before.map { "{\"f\":\($0)}" } ?? "{}"
        let (after, results) = try applied([("f", transform.operation)], to: fields)
        let expected = try Fixture.value(transform.after)
        #expect(after.map { try? Fixture.fields($0)["f"] } == expected)
        #expect(results == [expected])
    }

    static let arrays: [TransformCase] = [
        TransformCase(nil, .arrayUnion([.integer(1)]), "[1]"),
        TransformCase(nil, .arrayUnion([]), "[]"),
        TransformCase("\"a\"", .arrayUnion([.integer(1)]), "[1]"),
        TransformCase("[3,1]", .arrayUnion([.integer(2), .integer(1), .integer(0)]), "[3,1,2,0]"),
        TransformCase("[1,1]", .arrayUnion([.integer(1)]), "[1,1]"),
        TransformCase("[]", .arrayUnion([.integer(2), .integer(1), .double(2)]), "[2,1]"),
        TransformCase("[3]", .arrayUnion([.double(3), .double(3.5)]), "[3,3.5]"),
        TransformCase("[0.0]", .arrayUnion([.double(-0.0), .integer(0)]), "[0.0]"),
        TransformCase("[\(nan),null]", .arrayUnion([.null, .double(.nan)]), "[\(nan),null]"),
        TransformCase(#"[{"a":1}]"#, .arrayUnion([.map(["a": .double(1)]), .map(["a": .null])]), #"[{"a":1},{"a":null}]"#),
        TransformCase("[\"é\"]", .arrayUnion([.string("e\u{301}")]), "[\"é\",\"e\u{301}\"]"),
        TransformCase("[\"1\"]", .arrayUnion([.integer(1), .boolean(true)]), "[\"1\",1,true]"),
        TransformCase(nil, .arrayRemove([.integer(1)]), "[]"),
        TransformCase("5", .arrayRemove([.integer(5)]), "[]"),
        TransformCase("[1,2,1.0,3]", .arrayRemove([.integer(1), .integer(4)]), "[2,3]"),
        TransformCase("[\(nan),null,1]", .arrayRemove([.double(.nan), .null]), "[1]"),
        TransformCase(#"[{"a":[1]},{"a":[2]}]"#, .arrayRemove([.map(["a": .array([.double(1)])])]), #"[{"a":[2]}]"#),
        TransformCase("[1,2]", .arrayRemove([]), "[1,2]"),
    ]

    @Test(arguments: arrays)
    func `Array transforms compare by Firestore's equality, and their result is null`(transform: TransformCase) throws {
        let fields = transform.before.map { "{\"f\":\($0)}" } ?? "{}"
        let (after, results) = try applied([("f", transform.operation)], to: fields)
        #expect(after == "{\"f\":\(transform.after)}")
        #expect(results == [.null])
    }

    @Test
    func `Server timestamps are the commit time in milliseconds`() throws {
        let write = Write.create(
            Fixture.path,
            ["a": .integer(1)],
            transforms: try Fixture.paths(["a", "b.c"]).map { FieldTransform(field: $0, operation: .serverTimestamp) }
        )
        for (microseconds, floored) in [(1_234_567, 1_234_000), (-1, -1_000), (2_000, 2_000)] as [(Int64, Int64)] {
            let (document, result, _) = try write.applied(to: nil, at: Timestamp(microseconds: microseconds))
            let expected = Value.timestamp(try Timestamp(microseconds: floored))
            #expect(document?.fields == ["a": expected, "b": .map(["c": expected])])
            #expect(result.transformResults == [expected, expected])
            #expect(document?.updateTime.microseconds == microseconds)
        }
    }

    @Test
    func `Transforms are applied in order, after the fields are written`() throws {
        let (fields, results) = try applied(
            [
                ("n", .increment(.integer(2))), ("n", .increment(.integer(3))), ("n", .maximum(.integer(100))),
                ("n.x", .increment(.integer(1))),
            ],
            to: #"{"n":1}"#
        )
        #expect(fields == #"{"n":{"x":1}}"#)
        #expect(results == [.integer(3), .integer(6), .integer(100), .integer(1)])
        let write = try Write.set(
            Fixture.path,
            ["n": .integer(10)],
            transforms: [FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(3)))]
        )
        #expect(try write.fields(of: #"{"n":1000}"#) == #"{"n":13}"#)
    }

    @Test
    func `Increment, delete and increment result in the last operand`() throws {
        let increment = try Write.set(
            Fixture.path,
            [:],
            merge: .all,
            transforms: [FieldTransform(field: try FieldPath("n"), operation: .increment(.integer(3)))]
        )
        var document = try increment.applied(to: Fixture.document(#"{"n":5}"#), at: Fixture.now).document
        document = try Write.delete(Fixture.path).applied(to: document, at: Fixture.now).document
        document = try increment.applied(to: document, at: Fixture.now).document
        #expect(document?.fields == ["n": .integer(3)])
    }

    @Test
    func `A transform that doesn't change the field is not a change, but has a result`() throws {
        let write = Write(
            path: Fixture.path,
            operation: .patch([:], mask: []),
            transforms: [FieldTransform(field: try FieldPath("n"), operation: .maximum(.double(1)))]
        )
        let (_, result, isChange) = try write.applied(to: Fixture.document(#"{"n":1}"#), at: Fixture.now)
        #expect(!isChange)
        #expect(result == WriteResult(updateTime: Fixture.updated, transformResults: [.integer(1)]))
    }

    @Test(
        arguments: [.increment(.string("1")), .maximum(.null), .minimum(.timestamp(.minimum))] as [FieldTransform.Operation]
    )
    func `Numeric transforms reject other operands`(operation: FieldTransform.Operation) throws {
        let error = try #require(throws: StatusError.self) {
            try applied([("ok", .serverTimestamp), ("a.b", operation)], to: "{}")
        }
        #expect(error.code == .invalidArgument)
        #expect(error.field == "a.b")
        #expect(error.path == "books/hitchhiker")
    }

    @Test
    func `The document is validated after the transforms`() throws {
        let error = #expect(throws: StatusError.self) { try applied([("a", .arrayUnion([.null, .array([])]))], to: "{}") }
        #expect(error?.field == "a[1]")
    }

    @Test
    func `A commit may have at most 500 transforms per document`() throws {
        func increments(_ count: Int) -> [(String, FieldTransform.Operation)] {
            Array(repeating: ("n", .increment(.integer(1))), count: count)
        }
        #expect(try applied(increments(500), to: "{}").fields == #"{"n":500}"#)
        #expect(throws: StatusError.self) { try applied(increments(501), to: "{}") }
    }

    @Test(arguments: [Write.Operation.delete, .verify])
    func `A write that doesn't store the document cannot have transforms`(operation: Write.Operation) throws {
        var write = Write(path: Fixture.path, operation: operation)
        write.transforms = [FieldTransform(field: try FieldPath("a"), operation: .serverTimestamp)]
        let error = #expect(throws: StatusError.self) { try write.applied(to: nil, at: Fixture.now) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.field == "a")
    }

    @Test
    func `Array transforms don't take quadratic time`() throws {
        let count = 40_000
        let stored = Value.array((0..<count).map { .integer(Int64($0)) })
        let operands = (0..<count).map { Value.double(Double($0) + Double($0 % 2) / 2) }
        let current = Document(
            path: Fixture.path,
            fields: ["f": stored],
            createTime: Fixture.created,
            updateTime: Fixture.updated
        )
        let write = Write(
            path: Fixture.path,
            operation: .patch([:], mask: []),
            transforms: [
                FieldTransform(field: try FieldPath("f"), operation: .arrayUnion(operands)),
                FieldTransform(field: try FieldPath("f"), operation: .arrayRemove(operands)),
            ]
        )
        let fields = try write.applied(to: current, at: Fixture.now).document?.fields
        #expect(fields == ["f": .array((0..<count).filter { $0 % 2 == 1 }.map { .integer(Int64($0)) })])
    }
}
