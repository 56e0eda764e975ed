/// The rules that the editor of a database without rules begins with.
enum StarterRules {
    /// The text. It gives each user a document and what is below it, and nothing else.
    static let text = """
        rules_version = '2';

        service cloud.firestore {
          match /databases/{database}/documents {
            // Signed-in users may read and write their own document, and all documents below it.
            match /users/{uid}/{document=**} {
              allow read, write: if request.auth != null && request.auth.uid == uid;
            }

            // Everybody may read the documents of a collection:
            // match /books/{book} {
            //   allow read;
            // }

            // Everything else is denied.
          }
        }

        """
}
