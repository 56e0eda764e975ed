import DocumentModel
import StrictJSON
import Testing

@Suite("Setting a document")
struct WriteSetTests {
    private typealias Fixture = WriteFixtures

    private func set(
        _ json: String,
        merge: Write.Merge = .none,
        delete: [String] = [],
        transforms: [String] = []
    ) throws -> Write {
        try Write.set(
            Fixture.path,
            Fixture.fields(json),
            merge: merge,
            delete: Fixture.paths(delete),
            transforms: Fixture.paths(transforms).map { FieldTransform(field: $0, operation: .serverTimestamp) }
        )
    }

    @Test("Without merging the whole document is replaced, or created")
    func replace() throws {
        let write = try set(#"{"a":1,"b.c":2}"#)
        #expect(write.precondition == .none)
        #expect(write.operation == .replace(["a": .integer(1), "b.c": .integer(2)]))
        #expect(try write.fields(of: #"{"a":{"x":1},"z":0}"#) == #"{"a":1,"b.c":2}"#)
        #expect(try write.fields(of: nil) == #"{"a":1,"b.c":2}"#)
    }

    @Test("Creating needs that there is no document")
    func create() throws {
        let write = Write.create(Fixture.path, ["a": .null])
        #expect(write.precondition == .exists(false))
        #expect(try write.fields(of: nil) == #"{"a":null}"#)
    }

    @Test(
        "Merging names all leaves: maps are entered, empty maps and arrays are not, dots have no meaning",
        arguments: [
            ("{}", []),
            (#"{"a":1,"b":2}"#, ["a", "b"]),
            (#"{"h":{"g":3,"f":4},"a":{"b":{"c":5}}}"#, ["a.b.c", "h.f", "h.g"]),
            (#"{"a":{},"b":{"c":{}}}"#, ["a", "b.c"]),
            (#"{"a":[1,{"b":2}]}"#, ["a"]),
            (#"{"a.b":1,"c":{"d e":{"`":2}}}"#, ["`a.b`", "c.`d e`.`\\``"]),
            (#"{"a":{"$timestamp":"2014-09-09T08:00:47Z"},"b":{"$map":{"$c":1}}}"#, ["a", "b.`$c`"]),
        ]
    )
    func leaves(json: String, mask: [String]) throws {
        #expect(try set(json, merge: .all).maskTexts == mask)
    }

    @Test(
        "Merging keeps what the data doesn't have",
        arguments: [
            ("{}", #"{"a":1}"#, #"{"a":1}"#),
            ("{}", nil, "{}"),
            (#"{"a":2}"#, nil, #"{"a":2}"#),
            (#"{"a":{"b":2}}"#, #"{"a":{"b":1,"c":1},"d":1}"#, #"{"a":{"b":2,"c":1},"d":1}"#),
            (#"{"a":{}}"#, #"{"a":{"b":1}}"#, #"{"a":{}}"#),
            (#"{"a":[9]}"#, #"{"a":[1,2,3]}"#, #"{"a":[9]}"#),
            (#"{"a":{"b":{"c":1}}}"#, #"{"a":5}"#, #"{"a":{"b":{"c":1}}}"#),
            (#"{"a":5}"#, #"{"a":{"b":1}}"#, #"{"a":5}"#),
            (#"{"a.b":2}"#, #"{"a":{"b":1}}"#, #"{"a":{"b":1},"a.b":2}"#),
        ] as [(String, String?, String)]
    )
    func merge(json: String, before: String?, after: String) throws {
        #expect(try set(json, merge: .all).fields(of: before) == after)
    }

    @Test("Merging can delete: such fields are in the mask only, and leave the maps around them")
    func mergeAndDelete() throws {
        let write = try set(#"{"a":2}"#, merge: .all, delete: ["inner.gone", "missing.gone"])
        #expect(write.maskTexts == ["a", "inner.gone", "missing.gone"])
        #expect(try write.fields(of: #"{"a":1,"inner":{"gone":1},"z":1}"#) == #"{"a":2,"inner":{},"z":1}"#)
    }

    @Test("A transform alone still writes, with an empty mask")
    func transformAlone() throws {
        let write = try set("{}", merge: .all, transforms: ["t"])
        #expect(write.maskTexts == [])
        #expect(write.transforms.count == 1)
        #expect(try write.fields(of: #"{"a":1}"#) == #"{"a":1,"t":{"$timestamp":"1970-01-01T00:05:00.000000Z"}}"#)
    }

    @Test(
        "Merge fields write exactly these, and what else is in the data is ignored",
        arguments: [
            ([], #"{"a":1}"#, #"{"z":0}"#, #"{"z":0}"#),
            (["a"], #"{"a":1,"b":2}"#, #"{"b":0}"#, #"{"a":1,"b":0}"#),
            (["a"], #"{"a":{"c":1}}"#, #"{"a":{"d":0}}"#, #"{"a":{"c":1}}"#),
            (["a.c"], #"{"a":{"c":1,"e":5}}"#, #"{"a":{"d":0}}"#, #"{"a":{"c":1,"d":0}}"#),
            (["a", "a"], #"{"a":1}"#, #"{}"#, #"{"a":1}"#),
            (["h.g", "h.f"], #"{"h":{"g":3,"f":4}}"#, #"{"h":5}"#, #"{"h":{"f":4,"g":3}}"#),
        ]
    )
    func mergeFields(mask: [String], json: String, before: String, after: String) throws {
        #expect(try set(json, merge: .fields(Fixture.paths(mask))).fields(of: before) == after)
    }

    @Test("Merge fields may name what is deleted or transformed")
    func mergeFieldsWithSentinels() throws {
        let write = try set(
            #"{"a":1}"#,
            merge: .fields(Fixture.paths(["a", "gone", "t"])),
            delete: ["gone", "outside"],
            transforms: ["t"]
        )
        #expect(write.maskTexts == ["a", "gone"])
        #expect(
            try write.fields(of: #"{"gone":1,"outside":1}"#)
                == #"{"a":1,"outside":1,"t":{"$timestamp":"1970-01-01T00:05:00.000000Z"}}"#
        )
    }

    @Test("A merge field that is not in the data is refused", arguments: ["b", "a.c", "a.b.c"])
    func missing(field: String) throws {
        let error = try #require(throws: StatusError.self) {
            try set(#"{"a":{"b":1}}"#, merge: .fields(Fixture.paths([field])))
        }
        #expect(error.code == .invalidArgument)
        #expect(error.field == field)
        #expect(error.path == "books/hitchhiker")
        let text = "specified in your field mask but missing from your input data"
        #expect(error.message.contains(text))
    }

    @Test("A merge field inside another one is refused", arguments: [["a", "a.b"], ["a.b", "z", "a"], ["a.b.c", "a.b"]])
    func nested(mask: [String]) throws {
        let error = try #require(throws: StatusError.self) {
            try set(#"{"a":{"b":{"c":1}},"z":1}"#, merge: .fields(Fixture.paths(mask)))
        }
        #expect(error.code == .invalidArgument)
        #expect(error.field?.utf8.starts(with: "a.b".utf8) == true)
    }

    @Test("A field can't be deleted and have a value")
    func deletedValue() throws {
        let merging = #expect(throws: StatusError.self) { try set(#"{"a":{"b":1}}"#, merge: .all, delete: ["a.b"]) }
        #expect(merging?.field == "a.b")
        let mask = Write.Merge.fields(try Fixture.paths(["a"]))
        let naming = #expect(throws: StatusError.self) { try set(#"{"a":1}"#, merge: mask, delete: ["a"]) }
        #expect(naming?.field == "a")
        #expect(try set(#"{"a":1,"b":1}"#, merge: mask, delete: ["b"]).fields(of: #"{"b":2}"#) == #"{"a":1,"b":2}"#)
    }

    @Test("Fields can't be deleted from what is replaced, nor from inside what is merged")
    func misplacedDelete() throws {
        let replacing = #expect(throws: StatusError.self) { try set("{}", delete: ["a"]) }
        #expect(replacing?.field == "a")
        let inside = #expect(throws: StatusError.self) { try set(#"{"a":1}"#, merge: .all, delete: ["a.b"]) }
        #expect(inside?.field == "a.b")
    }
}
