import Foundation
import HearthClient

// Examples of the documentation. A test verifies that each one is contained in these files, and so compiled.

enum MappingSnippets {
    struct Book: Codable {
        @DocumentID var id: String?
        var title: String
        var numberOfPages: Int
        var author: String
    }

    struct ProgrammingLanguage: Codable, Identifiable {
        @DocumentID var id: String?
        var name: String
        var year: Date
        var reasonWhyILoveThis = ""

        enum CodingKeys: String, CodingKey {
            case id
            case name = "language_name"
            case year
        }
    }

    struct Tag: Codable, Hashable {
        var title: String
        var color: HexColor
    }

    enum Status: String, Codable {
        case draft
        case inReview = "in review"
        case published
    }

    struct Article: Codable {
        @DocumentID var id: String?
        var title: String
        var status: Status
        var tags: [Tag]
        var links: [String: URL]
        var place: GeoPoint?
        @ExplicitNull var subtitle: String?
        @ServerTimestamp var written: Date?
    }

    static func first() async throws -> Book {
        let db = Firestore.firestore()
        let book = try await db.collection("books").document("hitchhiker").getDocument(as: Book.self)
        return book
    }

    static func remote(key: String) -> Firestore {
        let settings = FirestoreSettings()
        settings.host = "data.example.org"
        settings.isSSLEnabled = true
        settings.key = key
        let remote = Firestore(settings: settings)
        return remote
    }

    static func read(_ db: Firestore) async throws -> Book {
        let reference = db.collection("books").document("hitchhiker")
        let book = try await reference.getDocument(as: Book.self)
        return book
    }

    static func readWithCompletion(_ reference: DocumentReference) {
        reference.getDocument(as: Book.self) { result in
            switch result {
            case .success(let book):
                print(book.title)
            case .failure(let error):
                print(error)
            }
        }
    }

    static func readInvalid(_ db: Firestore) async throws -> Book? {
        do {
            let book = try await db.collection("books").document("invalid-data").getDocument(as: Book.self)
            print(book.title)
        } catch DecodingError.typeMismatch(_, let context) {
            print(context.debugDescription)  // Expected to decode Int, found a string. (document books/invalid-data)
        } catch DecodingError.keyNotFound(let key, _) {
            print("\(key.stringValue) is missing")
        } catch FirestoreErrorCode.unavailable {
            print("The server cannot be reached.")
        }
        let optionalBook = try await db.collection("books").document("does-not-exist").getDocument(as: Book?.self)
        return optionalBook
    }

    static func readMany(_ db: Firestore) async throws -> [ProgrammingLanguage] {
        let snapshot = try await db.collection("programming-languages").getDocuments()
        let languages = snapshot.documents.compactMap { document in
            try? document.data(as: ProgrammingLanguage.self)
        }
        return languages
    }
}
