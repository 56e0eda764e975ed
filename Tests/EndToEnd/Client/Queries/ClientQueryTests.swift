import DocumentModel
import Foundation
import HearthClient
import TestSupport
import Testing

@Suite("Client queries", .tags(.slow), .timeLimit(.minutes(10)))
struct ClientQueryTests {
    private func ids(_ query: HearthClient.Query) async throws -> [String] {
        try await query.getDocuments().documents.map(\.documentID)
    }

    @Test func `Queries filter, sort and limit documents`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            let adams = books.whereField("author", isEqualTo: "Douglas Adams")
            let named = ["hitchhiker", "hitchhiker-genre", "hitchhiker-image-urls", "hitchhiker-tags"]
            #expect(try await ids(adams) == named)
            #expect(try await ids(adams.order(by: "title", descending: true)).first == "hitchhiker")
            #expect(try await ids(books.whereField("numberOfPages", isGreaterThan: 800)) == named)
            #expect(try await ids(books.whereField("numberOfPages", isGreaterThan: "two")) == ["invalid-data"])
            #expect(try await ids(books.whereField("genres", arrayContains: "Comedy")) == ["hitchhiker-genre"])
            #expect(try await ids(books.whereField("genres", arrayContainsAny: ["Comedy", "x"])) == ["hitchhiker-genre"])
            #expect(try await ids(books.whereField("author", in: ["Peter", "x"])) == ["invalid-data"])
            #expect(try await ids(books.whereField("author", notIn: ["Peter"])) == named)
            #expect(
                try await ids(books.whereField(FieldPath(["cover", "small"]), isNotEqualTo: "")) == ["hitchhiker-image-urls"]
            )
            #expect(
                try await ids(books.whereField(FieldPath.documentID(), isGreaterThan: "hitchhiker-j")) == [
                    "hitchhiker-tags", "invalid-data",
                ]
            )
            let either = Filter.orFilter([
                .whereField("author", isEqualTo: "Peter"),
                .andFilter([.whereField("numberOfPages", isEqualTo: 816), .whereField("color", isEqualTo: "#fd1c48")]),
            ])
            #expect(try await ids(books.whereFilter(either)) == ["hitchhiker-image-urls", "invalid-data"])
            #expect(try await ids(adams.limit(to: 2)) == Array(named.prefix(2)))
            #expect(try await ids(adams.order(by: FieldPath.documentID()).limit(toLast: 2)) == Array(named.suffix(2)))
            let typed = try await adams.getDocuments().documents.compactMap { try? $0.data(as: Book.self) }
            #expect(typed.map(\.numberOfPages) == [816, 816, 816, 816])
            let snapshot = try await adams.getDocuments()
            #expect(snapshot.query == adams)
            #expect(snapshot.documentChanges.map(\.newIndex) == [0, 1, 2, 3])
        }
    }

    @Test func `Cursors are set by values or documents`() async throws {
        try await withGuide { db in
            let languages = db.collection("programming-languages")
            let byYear = languages.order(by: "year")
            let all = ["3yDHZpqFGBgXNRfdxVX6", "JijOBVSn706HzXjbpTVD", "gXPTy6P27y1VT2HJ0vDb", "O38uE17aHTN3zZxjQ100"]
            #expect(try await ids(byYear) == all)
            let year = Date(timeIntervalSince1970: 0)
            #expect(try await ids(byYear.start(at: [year])) == Array(all[1...]))
            #expect(try await ids(byYear.end(before: [Timestamp(date: year)])) == [all[0]])
            let basic = try await languages.document(all[1]).getDocument()
            #expect(try await ids(byYear.start(atDocument: basic)) == Array(all[1...]))
            #expect(try await ids(byYear.start(afterDocument: basic)) == Array(all[2...]))
            #expect(try await ids(byYear.end(beforeDocument: basic)) == [all[0]])
            #expect(try await ids(byYear.end(atDocument: basic)) == Array(all[...1]))
            #expect(try await ids(byYear.start(afterDocument: basic).limit(toLast: 1)) == [all[3]])
            #expect(try await ids(languages.start(afterDocument: basic)) == [all[3], all[2]])
            // The implicit order of an inequality applies to the cursor as well.
            let recent = languages.whereField("year", isGreaterThan: year)
            #expect(try await ids(recent.start(afterDocument: basic)) == Array(all[2...]))
            // A cursor among documents that differ only in their IDs.
            let books = db.collection("books").whereField("numberOfPages", isEqualTo: 816).order(
                by: "numberOfPages",
                descending: true
            )
            let page = try await books.limit(to: 2).getDocuments()
            #expect(page.documents.map(\.documentID) == ["hitchhiker-tags", "hitchhiker-image-urls"])
            #expect(try await ids(books.start(afterDocument: page.documents[1])) == ["hitchhiker-genre", "hitchhiker"])
        }
    }

    @Test func `A collection group query finds documents below different parents`() async throws {
        try await withGuide { db in
            for (book, stars) in [("hitchhiker", 5), ("hitchhiker-tags", 3)] {
                try await db.document("books/\(book)/reviews/r").setData(["stars": stars])
            }
            let reviews = db.collectionGroup("reviews")
            let found = try await reviews.order(by: "stars").getDocuments()
            #expect(found.documents.map(\.reference.path) == ["books/hitchhiker-tags/reviews/r", "books/hitchhiker/reviews/r"])
            #expect(found.documents.first?.reference.parent.parent?.documentID == "hitchhiker-tags")
            let good = try await reviews.whereField("stars", isGreaterThanOrEqualTo: 5).getDocuments()
            #expect(good.documents.map(\.reference.path) == ["books/hitchhiker/reviews/r"])
            let path = "books/hitchhiker/reviews/r"
            #expect(try await reviews.whereField(FieldPath.documentID(), isEqualTo: path).getDocuments().count == 1)
            #expect(try await reviews.count.getAggregation(source: .server).count == 2)
        }
    }

    @Test func `Aggregations are computed over a query`() async throws {
        try await withGuide { db in
            let books = db.collection("books")
            let snapshot = try await books.aggregate([
                .count(), .sum("numberOfPages"), .average(FieldPath(["numberOfPages"])), .count(),
            ]).getAggregation(source: .server)
            #expect(snapshot.count == 5)
            #expect(snapshot.get(AggregateField.count()) as? Int == 5)
            #expect(snapshot.get(AggregateField.sum("numberOfPages")) as? Int == 4 * 816)
            #expect(snapshot.get(AggregateField.average("numberOfPages")) as? Double == 816)
            #expect(snapshot.get(AggregateField.sum("other")) is NSNull)
            let nothing = books.whereField("title", isEqualTo: "nothing").aggregate([
                .average("numberOfPages"), .sum("numberOfPages"),
            ])
            let none = try await withCheckedThrowingContinuation { continuation in
                nothing.getAggregation(source: .server) { snapshot, error in
                    continuation.resume(with: Result { try snapshot ?? { throw error ?? CancellationError() }() })
                }
            }
            #expect(none.get(AggregateField.average("numberOfPages")) is NSNull)
            #expect(none.get(AggregateField.sum("numberOfPages")) as? Int == 0)
            #expect(none.count == 0)
            #expect(try await books.limit(to: 3).count.getAggregation(source: .server).count == 3)
        }
    }

    @Test func `Geo queries find documents in a radius or box, and sort by distance`() async throws {
        try await withGuide { db in
            let offices = db.collection("locations")
            let hamburg = GeoPoint(latitude: 53.55, longitude: 9.99)
            #expect(try await ids(offices.whereField("location", isNear: hamburg, radius: 5_000)) == ["googleHAM"])
            let nearest = offices.order(byDistanceOf: "location", from: hamburg)
            #expect(try await ids(nearest.limit(to: 3)) == ["googleHAM", "googleUK", "googleNYC"])
            let first = try await offices.document("googleHAM").getDocument()
            #expect(try await ids(nearest.start(afterDocument: first).limit(to: 1)) == ["googleUK"])
            let west = GeoPoint(latitude: 37, longitude: -123)
            let east = GeoPoint(latitude: 38, longitude: -122)
            let bay = Filter.orFilter([
                .whereField("location", isWithin: west, east), .whereField("name", isEqualTo: "Google UK"),
            ])
            #expect(try await ids(offices.whereFilter(bay)) == ["googleSFO", "googleUK", "googleplex"])
        }
    }

    @Test func `A vector search returns the nearest documents, and cannot be listened to`() async throws {
        try await withServer { server in
            let db = server.firestore
            let colors = db.collection("vectors")
            for (id, vector) in [("a", [1, 2, 3]), ("b", [2, 2, 3]), ("c", [9, 9, 9.0])] {
                try await colors.document(id).setData(["v": FieldValue.vector(vector), "id": id])
            }
            let query = colors.findNearest(
                field: "v",
                vectorValue: FieldValue.vector([1, 2, 3.0]),
                distanceMeasure: .euclidean,
                limit: 5,
                distanceField: "distance",
                distanceThreshold: 1
            )
            let found = try await query.getDocuments()
            #expect(found.documents.map(\.documentID) == ["a", "b"])
            #expect(found.documents.map { $0.get("distance") as? Double } == [0, 1])
            let error = await #expect(throws: FirestoreError.self) { for try await _ in query.snapshots {} }
            #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
            try await db.terminate()
        }
    }

    @Test func `Results larger than a response are complete`() async throws {
        try await withServer { server in
            let db = server.firestore
            let large = db.collection("large")
            let text = String(repeating: "x", count: 1_000_000)
            for half in [0..<9, 9..<18] {
                let batch = db.batch()
                for index in half { batch.setData(["n": index, "text": text], forDocument: large.document("d\(index)")) }
                try await batch.commit()
            }
            let all = try await large.order(by: "n", descending: true).getDocuments()
            #expect(all.documents.map { $0.get("n") as? Int } == (0..<18).reversed())
            let last = try await large.order(by: "n").end(before: [17]).limit(toLast: 17).getDocuments()
            #expect(last.documents.map { $0.get("n") as? Int } == Array(0..<17))
            for try await snapshot in large.order(by: "n").snapshots {
                #expect(snapshot.documents.map { $0.get("n") as? Int } == Array(0..<18))
                break
            }
            try await db.terminate()
        }
    }
}
