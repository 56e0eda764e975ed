import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Query building")
struct QueryBuildingTests {
    private static let books = offlineDatabase.collection("books")
    private static let a = FieldPath(["a"])
    private static let center = GeoPoint(latitude: 53.5, longitude: 10)

    private func filter(_ query: HearthClient.Query) throws -> QueryFilter? {
        try query.definition.get().filter
    }

    @Test(
        arguments: [
            (books.whereField("a", isEqualTo: 1), Condition.equal(.integer(1))),
            (books.whereField(a, isEqualTo: NSNull()), .equal(.null)),
            (books.whereField("a", isNotEqualTo: "x"), .notEqual(.string("x"))),
            (books.whereField(a, isNotEqualTo: "x"), .notEqual(.string("x"))),
            (books.whereField("a", isLessThan: 1.5), .less(.double(1.5))),
            (books.whereField(a, isLessThan: 1.5), .less(.double(1.5))),
            (books.whereField("a", isLessThanOrEqualTo: 2), .lessOrEqual(.integer(2))),
            (books.whereField(a, isLessThanOrEqualTo: 2), .lessOrEqual(.integer(2))),
            (books.whereField("a", isGreaterThan: 2), .greater(.integer(2))),
            (books.whereField(a, isGreaterThan: 2), .greater(.integer(2))),
            (books.whereField("a", isGreaterThanOrEqualTo: true), .greaterOrEqual(.boolean(true))),
            (books.whereField(a, isGreaterThanOrEqualTo: true), .greaterOrEqual(.boolean(true))),
            (books.whereField("a", arrayContains: Data([1])), .arrayContains(.bytes([1]))),
            (books.whereField(a, arrayContains: center), .arrayContains(.geoPoint(center))),
            (books.whereField("a", arrayContainsAny: [1, "x"]), .arrayContainsAny([.integer(1), .string("x")])),
            (books.whereField(a, arrayContainsAny: [1]), .arrayContainsAny([.integer(1)])),
            (books.whereField("a", in: [1, [2]]), .in([.integer(1), .array([.integer(2)])])),
            (books.whereField(a, in: [1]), .in([.integer(1)])),
            (books.whereField("a", notIn: [1]), .notIn([.integer(1)])),
            (books.whereField(a, notIn: [1]), .notIn([.integer(1)])),
            (books.whereFilter(.whereField("a", isEqualTo: ["k": 1])), .equal(.map(["k": .integer(1)]))),
            (books.whereFilter(.whereField(a, isGreaterOrEqualTo: 1)), .greaterOrEqual(.integer(1))),
            (books.whereFilter(.whereField(a, isLessThanOrEqualTo: 1)), .lessOrEqual(.integer(1))),
            (books.whereField("a", isNear: center, radius: 5), .near(try! GeoCircle(center: center, radius: 5))),
            (
                books.whereField("a", isWithin: center, center),
                .within(try! GeoBox(southWest: center, northEast: center))
            ),
        ] as [(HearthClient.Query, Condition)]
    )
    func `Builds each condition`(query: HearthClient.Query, condition: Condition) throws {
        #expect(try filter(query) == .field(Self.a, condition))
        _ = try query.checked()
    }

    @Test func `Combines filters and simplifies empty or single ones`() throws {
        let x = Filter.whereField("x", isEqualTo: 1)
        let y = Filter.whereField("y", isEqualTo: 2)
        let (one, two) = (
            QueryFilter.field(FieldPath(["x"]), .equal(.integer(1))),
            QueryFilter.field(FieldPath(["y"]), .equal(.integer(2)))
        )
        let books = Self.books
        #expect(try filter(books.whereFilter(x).whereFilter(y)) == .and([one, two]))
        #expect(try filter(books.whereFilter(x).whereFilter(y).whereFilter(x)) == .and([one, two, one]))
        #expect(try filter(books.whereFilter(.orFilter([x, .andFilter([x, y])]))) == .or([one, .and([one, two])]))
        #expect(try filter(books.whereFilter(.orFilter([x, y])).whereFilter(y)) == .and([.or([one, two]), two]))
        #expect(try filter(books.whereFilter(.orFilter([.andFilter([]), .orFilter([y])]))) == two)
        #expect(try filter(books.whereFilter(.andFilter([]))) == nil)
        #expect(books.whereFilter(x).whereFilter(y) == books.whereFilter(.andFilter([x, y])))
    }

    @Test func `Builds orders, limits, cursors and vector searches`() throws {
        let query = Self.books.order(by: "a").order(by: FieldPath(["b.c"]), descending: true)
            .order(byDistanceOf: "p", from: Self.center).start(after: [1, "x"]).end(at: [2]).limit(toLast: 3)
        let definition = try query.definition.get()
        #expect(
            definition.orders == [
                .init(.field(Self.a)), .init(.field(FieldPath(["b.c"])), .descending),
                .init(.distance(of: FieldPath(["p"]), from: Self.center)),
            ]
        )
        #expect(definition.start == .init([.integer(1), .string("x")], isInclusive: false))
        #expect(definition.end == .init([.integer(2)], isInclusive: true))
        #expect(definition.limit == .last(3))
        #expect(try query.start(at: [0]).definition.get().start == .init([.integer(0)], isInclusive: true))
        #expect(try query.end(before: [9]).definition.get().end == .init([.integer(9)], isInclusive: false))
        #expect(try query.limit(to: 4).definition.get().limit == .first(4))
        let nearest = Self.books.findNearest(
            field: "v",
            vectorValue: VectorValue([1, 2]),
            distanceMeasure: .cosine,
            limit: 5,
            distanceField: "d.e",
            distanceThreshold: 0.5
        )
        #expect(
            try nearest.checked().query.vectorSearch
                == VectorSearch(
                    field: FieldPath(["v"]),
                    vector: [1, 2],
                    measure: .cosine,
                    limit: 5,
                    distanceField: FieldPath(["d", "e"]),
                    threshold: 0.5
                )
        )
    }

    @Test func `Compares queries by definition`() {
        let books = Self.books
        let query = books.whereField("a", isEqualTo: 1).order(by: "b")
        #expect(query == books.whereField("a", isEqualTo: 1).order(by: "b"))
        #expect(query.isEqual(books.whereField("a", isEqualTo: 1).order(by: "b")))
        #expect(Set([query, books.whereField("a", isEqualTo: 1).order(by: "b")]).count == 1)
        #expect(query != books.whereField("a", isEqualTo: 1).order(by: "b", descending: true))
        #expect(!query.isEqual(books.whereField("a", isEqualTo: 2).order(by: "b")))
        #expect(!query.isEqual("books"))
        #expect(offlineDatabase.collectionGroup("books") != books)
        #expect(
            query != Firestore(settings: FirestoreSettings()).collection("books").whereField("a", isEqualTo: 1).order(by: "b")
        )
        #expect(books.whereField("", isEqualTo: 1) == books.whereField("", isEqualTo: 1))
        #expect(books.whereField("", isEqualTo: 1) != books)
        #expect(query.count == query.aggregate([.count()]))
        #expect(query.count != query.aggregate([.sum("a")]))
    }
}
