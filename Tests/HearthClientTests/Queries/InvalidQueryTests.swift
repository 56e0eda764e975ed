import DocumentModel
import Foundation
import Testing
import UTF8Text

@testable import HearthClient

@Suite("Invalid queries")
struct InvalidQueryTests {
    private static let books = offlineDatabase.collection("books")
    private static let sorted = books.order(by: "a")
    private static let missing = DocumentSnapshot(nil, of: books.document("x"))
    private static let otherDatabase: Firestore = {
        let settings = FirestoreSettings()
        settings.host = "other.example"
        return Firestore(settings: settings)
    }()
    private static let here = DocumentSnapshot(
        Document(path: try! DocumentPath("books/x"), fields: ["a": .integer(1)], createTime: .minimum, updateTime: .minimum),
        of: books.document("x")
    )

    private struct CustomType {}

    @Test(
        arguments: [
            (books.whereField("a..b", isEqualTo: 1), "Invalid field path"),
            (books.whereField("a[0]", isEqualTo: 1), "Invalid field path"),
            (books.order(by: ""), "Invalid field path"),
            (books.whereField("a", isEqualTo: CustomType()), "Unsupported type: CustomType"),
            (books.whereField("a", isEqualTo: FieldValue.delete()), "FieldValue"),
            (books.whereField("a", isEqualTo: UInt64.max), "signed 64-bit integer"),
            (books.whereField("a", isLessThan: NSNull()), "null or NaN"),
            (books.whereField("a", in: []), "non-empty array"),
            (books.whereField("a", notIn: [1]).whereField("b", isNotEqualTo: 1), "at most one `!=` or `not-in`"),
            (books.whereField("a", in: Array(0..<31)), "at most 30 disjunctions"),
            (books.whereField("a", isEqualTo: otherDatabase.document("a/b")), "is for the database at"),
            (books.whereField("a", in: [["deep": otherDatabase.document("a/b")]]), "is for the database at"),
            (books.whereFilter(.orFilter([.whereField("~", isEqualTo: 1)])), "Invalid field path"),
            (
                books.whereFilter(.andFilter([.whereField("a", isEqualTo: otherDatabase.document("a/b"))])),
                "is for the database at"
            ),
            (books.whereField("a", isNear: GeoPoint(latitude: 0, longitude: 0), radius: -1), "at least 0 meters"),
            (
                books.whereField(
                    "a",
                    isWithin: GeoPoint(latitude: 1, longitude: 0),
                    GeoPoint(latitude: 0, longitude: 0)
                ), "southWest"
            ),
            (books.limit(to: 0), "Limit must be positive"),
            (books.limit(to: -1), "Limit must be positive"),
            (sorted.limit(toLast: 0), "Limit must be positive"),
            (books.limit(toLast: 1), "at least one orderBy"),
            (sorted.order(by: "a"), "twice"),
            (sorted.start(at: []), "at least one value"),
            (sorted.start(at: [1, "x"]), "more values than were specified in the order by"),
            (sorted.end(before: [1, "x", 2]), "more values than were specified in the order by"),
            (books.start(after: ["x"]), "more values than were specified in the order by"),
            (sorted.start(at: [CustomType()]), "Unsupported type"),
            (sorted.end(before: [otherDatabase.document("a/b")]), "is for the database at"),
            (sorted.start(at: [1]).order(by: "b"), "before specifying the order by"),
            (sorted.start(atDocument: here).order(by: "b"), "before specifying the order by"),
            (books.start(atDocument: missing), "a document that doesn't exist"),
            (books.order(by: "b").end(atDocument: here), "doesn't have the fields"),
            (otherDatabase.collection("books").start(afterDocument: here), "is for the database at"),
            (books.whereField(FieldPath.documentID(), arrayContains: "a"), "cannot be used on __name__"),
            (books.whereField(FieldPath.documentID(), isEqualTo: "a/b"), "slash"),
            (offlineDatabase.collectionGroup("a/b"), "slash"),
            (offlineDatabase.collectionGroup(""), "empty"),
            (
                books.findNearest(field: "v", vectorValue: VectorValue([1]), distanceMeasure: .euclidean, limit: 0),
                "1 to 1000"
            ),
        ] as [(HearthClient.Query, String)]
    )
    func `Invalid queries are reported when they are run`(query: HearthClient.Query, text: String) async throws {
        let read = await #expect(throws: FirestoreError.self) { try await query.getDocuments() }
        #expect(read?.code == FirestoreErrorCode.invalidArgument.rawValue)
        #expect(read?.localizedDescription.contains(text) == true, "\(read?.localizedDescription ?? "")")
        let listened = await #expect(throws: FirestoreError.self) { for try await _ in query.snapshots {} }
        #expect(listened?.code == FirestoreErrorCode.invalidArgument.rawValue)
        let counted = await #expect(throws: FirestoreError.self) {
            try await query.count.getAggregation(source: .server)
        }
        #expect(counted?.code == FirestoreErrorCode.invalidArgument.rawValue)
    }

    @Test(
        arguments: [
            ([], "can not be empty"),
            ([.sum("a..b")], "Invalid field path"),
            ([.average("")], "Invalid field path"),
            ([.count(), .sum("a"), .sum("b"), .sum("c"), .sum("d"), .sum("e")], "maximum number of aggregations"),
        ] as [([AggregateField], String)]
    )
    func `Invalid aggregations are reported when the query is run`(fields: [AggregateField], text: String) async throws {
        let error = await #expect(throws: FirestoreError.self) {
            try await Self.books.aggregate(fields).getAggregation(source: .server)
        }
        #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
        #expect(error?.localizedDescription.contains(text) == true, "\(error?.localizedDescription ?? "")")
    }
}
