"""What a look at the disk finds: whose file it is, and what is to be done."""
