import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import HearthAPI
import SwiftProtobuf
import UTF8Text

// Single documents and lists.
extension FirestoreService {
    static let getDocument = GRPCCall.encoded(
        GetDocument.requiredPermission,
        expectedResponseBytes: GetDocument.expectedResponseBytes
    ) { (request: ProtoGetDocumentRequest, context) throws(StatusError) in
        let name = try ResourceName(request.name)
        let consistency: ReadConsistency =
            switch request.consistencySelector {
            case .transaction(let id)?: try ReadConsistency(transaction: id)
            case .readTime(let time)?: try ReadConsistency(readTime: time)
            case nil: ReadConsistency()
            }
        let document = try await GetDocument.document(
            .init(
                path: try name.document(),
                mask: try .mask(request.hasMask ? request.mask : nil, in: "mask"),
                consistency: consistency
            ),
            in: context.inDatabase(name.database.id)
        )
        return GRPCMessages(try document.protobuf(in: name.database))
    }

    static let listDocuments = GRPCCall.encoded(
        ListDocumentsRequest.requiredPermission,
        expectedResponseBytes: ListDocumentsRequest.expectedResponseBytes
    ) { (request: ProtoListDocumentsRequest, context) throws(StatusError) in
        let name = try ResourceName(request.parent)
        let collection = try request.collectionID.utf8.isEmpty ? nil : CollectionID(request.collectionID)
        var list = ListDocumentsRequest(below: try name.parent(), collection)
        list.mask = try .mask(request.hasMask ? request.mask : nil, in: "mask")
        list.orders = try request.orderBy.utf8.isEmpty ? [] : [StructuredQuery.Order](request.orderBy)
        list.pageSize = try PageSize(requested: Int(request.pageSize))
        list.maximumPageBytes = maximumPageBytes
        list.pageToken = request.pageToken
        list.showMissing = request.showMissing
        switch request.consistencySelector {
        case .transaction(let id)?: list.consistency = try ReadConsistency(transaction: id)
        case .readTime(let time)?: list.consistency = try ReadConsistency(readTime: time)
        case nil: break
        }
        try list.validate()
        let page = try await list.respond(in: context.inDatabase(name.database.id))
        var response = ProtobufWriter()
        for entry in page.entries {
            try response.message(field: 1) { writer throws(StatusError) in
                switch entry {
                case .document(let document): try writer.document(document, in: name.database)
                case .missing(let path): writer.string(name.database.name(of: path), field: 1)
                }
            }
        }
        if let next = page.next { response.string(next, field: 2) }
        return GRPCMessages(response.finish(), damagedCount: page.damagedCount)
    }

    /// The size at which a page of documents ends. With one more document, of up to 1 MiB, it is below the default limit of gRPC
    /// clients for a message, 4 MiB.
    private static let maximumPageBytes = 5 << 19

    static let listCollectionIDs = GRPCCall.encoded(ListCollectionIDsRequest.requiredPermission) {
        (request: ProtoListCollectionIdsRequest, context) throws(StatusError) in
        let name = try ResourceName(request.parent)
        var readTime: Timestamp?
        if case .readTime(let time)? = request.consistencySelector { readTime = try Timestamp(readTime: time) }
        let list = ListCollectionIDsRequest(
            below: try name.parent(),
            pageSize: try PageSize(requested: Int(request.pageSize)),
            pageToken: request.pageToken,
            readTime: readTime
        )
        let page = try await list.respond(in: context.inDatabase(name.database.id))
        var response = ProtoListCollectionIdsResponse()
        response.collectionIds = page.ids.map(\.key.string)
        response.nextPageToken = page.next ?? ""
        return GRPCMessages(try response.encoded(), damagedCount: page.damagedCount)
    }

    static let createDocument = GRPCCall.encoded(CreateDocumentRequest.requiredPermission) {
        (request: ProtoCreateDocumentRequest, context) throws(StatusError) in
        let name = try ResourceName(request.parent)
        let create = try CreateDocumentRequest(
            DocumentMessage.fields(of: request.document, in: name.database),
            in: name.collection(request.collectionID),
            id: request.documentID,
            mask: .mask(request.hasMask ? request.mask : nil, in: "mask")
        )
        let document = try await create.respond(in: context.inDatabase(name.database.id))
        return GRPCMessages(try document.protobuf(in: name.database))
    }

    static let updateDocument = GRPCCall.encoded(UpdateDocumentRequest.requiredPermission) {
        (request: ProtoUpdateDocumentRequest, context) throws(StatusError) in
        let name = try StatusError.locating(in: "document.name") { () throws(StatusError) in
            try ResourceName(request.document.name)
        }
        let update = try UpdateDocumentRequest(
            name.document(),
            DocumentMessage.fields(of: request.document, in: name.database),
            updateMask: .mask(request.hasUpdateMask ? request.updateMask : nil, in: "updateMask"),
            mask: .mask(request.hasMask ? request.mask : nil, in: "mask"),
            precondition: Precondition(request.hasCurrentDocument ? request.currentDocument : nil)
        )
        let document = try await update.respond(in: context.inDatabase(name.database.id))
        return GRPCMessages(try document.protobuf(in: name.database))
    }

    static let deleteDocument = GRPCCall.unary(DeleteDocument.requiredPermission) {
        (request: ProtoDeleteDocumentRequest, context) throws(StatusError) in
        let name = try ResourceName(request.name)
        let write = Write.delete(
            try name.document(),
            precondition: try Precondition(request.hasCurrentDocument ? request.currentDocument : nil)
        )
        try await DeleteDocument.call(write, in: context.inDatabase(name.database.id))
        return Google_Protobuf_Empty()
    }
}

extension DocumentMessage {
    /// Decodes the fields of the document in a request.
    fileprivate static func fields(
        of message: ProtoDocument,
        in database: DatabaseName
    ) throws(StatusError) -> MapValue {
        try StatusError.locating(in: "document.fields") { () throws(StatusError) in
            try MapValue(message.fields, in: database)
        }
    }
}
